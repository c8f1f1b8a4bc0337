import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readClientAddress } from '../../guards/read-client-address.ts';
import { createFairShare } from '../../lib/collections/fair-share.ts';

/** Of those who have not shown the token: scrapers, browsers that load the page, strangers. */
const UNTRUSTED_MAX = 100;
/** Beyond it a connection is treated like one without the token. */
const TRUSTED_MAX = 100;

/** Tells that a connection has shown the admin token. */
export type TrustConnection = (socket: Socket) => void;

/** Keeps the listener open for operators: a connection without the token gives way to a newer one. */
export function limitConnections(server: Server): TrustConnection {
  const share = createFairShare(UNTRUSTED_MAX);
  const trusted = new Set<Socket>();
  const leaves = new WeakMap<Socket, () => void>();

  server.on('connection', (socket: Socket) => {
    const peerAddress = socket.remoteAddress ?? '';
    const address = readClientAddress({ peerAddress, forwardedFor: undefined, trustedProxies: 0 });
    const leave = () => share.remove(connection, address);
    const connection = {
      giveWay() {
        leave();
        socket.destroy();
      },
    };
    if (!share.makeRoom(connection, address, 1)) {
      socket.destroy();
      return;
    }
    share.add(connection, address, 1);
    leaves.set(socket, leave);
    socket.once('close', () => {
      leave();
      trusted.delete(socket);
    });
  });

  return (socket) => {
    if (trusted.has(socket) || trusted.size >= TRUSTED_MAX || socket.destroyed) return;
    trusted.add(socket);
    leaves.get(socket)?.();
  };
}
