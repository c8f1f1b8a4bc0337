import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from '../wait-until.ts';

/** A client that sends bytes exactly as the test writes them. */
export interface RawConnection {
  readonly socket: Socket;
  send(bytes: string | Uint8Array): void;
  /** Everything received so far, one character per byte. */
  received(): string;
  isClosed(): boolean;
  waitFor(pattern: RegExp): Promise<void>;
  waitForClose(): Promise<void>;
  destroy(): void;
}

export async function openRawConnection(
  port: number,
  localAddress = '127.0.0.1',
): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port, localAddress });
  let received = '';
  let closed = false;
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    closed = true;
  });
  await once(socket, 'connect');
  return {
    socket,
    send: (bytes) => {
      socket.write(bytes);
    },
    received: () => received,
    isClosed: () => closed,
    waitFor: (pattern) =>
      waitUntil(
        () => pattern.test(received),
        `${pattern} came back, got ${JSON.stringify(received)}`,
      ),
    waitForClose: () => waitUntil(() => closed, 'the server closes the connection'),
    destroy: () => socket.destroy(),
  };
}
