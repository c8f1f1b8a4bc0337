import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { readClientAddress } from '../../guards/read-client-address.ts';
import { createFairShare } from '../../lib/collections/fair-share.ts';

/**
 * The maximum of connections that have not presented the token: scrapers, browsers that load the
 * page, strangers.
 */
const UNTRUSTED_MAX = 100;
/**
 * Beyond this number, connections that have presented the token are treated like those that have
 * not.
 */
const TRUSTED_MAX = 100;

/** To be called when a connection has presented the admin token. */
export type TrustConnection = (socket: Socket) => void;

/**
 * Keeps the listener open for operators: if there are too many, a connection without the token is
 * closed for a newer one.
 */
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
