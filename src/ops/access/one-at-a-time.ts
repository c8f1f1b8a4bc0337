import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Node hands over every request that a client sends ahead of its answers, thousands at once, and
 * each answer would wait in memory for the ones before it. No client of operators needs this, so
 * the connection ends.
 */
export function createOneAtATime(): (socket: Socket, response: ServerResponse) => boolean {
  const busy = new WeakSet<Socket>();
  return (socket, response) => {
    if (busy.has(socket)) {
      socket.destroy();
      return false;
    }
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
    return true;
  };
}
