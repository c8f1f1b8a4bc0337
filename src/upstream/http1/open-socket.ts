import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { createSharedLookup } from './create-shared-lookup.ts';
import type { Origin } from './origin.ts';

export interface TlsOptions {
  /** PEM of the authorities to trust instead of the usual ones. */
  readonly ca?: string | Buffer;
  /** The name that the certificate must have, if it is not the host's. */
  readonly servername?: string;
}

export interface SocketListener {
  /** TCP is connected. With TLS the handshake follows. */
  onConnect(): void;
  onReady(): void;
  /** The bytes do not change until this returns. */
  onBytes(bytes: Buffer): void;
}

export type OpenSocket = (listener: SocketListener) => Socket;

/** One read brings at most this many bytes. */
const READ_BYTES_MAX = 64 * 1024;
/**
 * Networks forget connections that are silent for some minutes, and a vendor may think for
 * longer. This also detects a machine that is gone.
 */
const KEEP_ALIVE_MS = 60_000;

/** For all sockets of the process. */
const lookup = createSharedLookup();

/**
 * Creates the function that begins to connect to the origin. The caller listens for errors and for
 * the end.
 */
export function createOpenSocket(origin: Origin, tls: TlsOptions = {}): OpenSocket {
  return origin.protocol === 'https:' ? createOpenTls(origin, tls) : createOpenTcp(origin);
}

function createOpenTcp({ host, port }: Origin): OpenSocket {
  // All sockets read into this buffer, one after the other. By default, Node allocates as much for
  // every read.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX);
  return (listener) => {
    const callback = (length: number) => {
      listener.onBytes(buffer.subarray(0, length));
      return true;
    };
    const socket = connectTcp({ host, port, lookup, onread: { buffer, callback } });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.once('connect', () => {
      listener.onConnect();
      listener.onReady();
    });
    return socket;
  };
}

function createOpenTls({ host, port }: Origin, { ca, servername }: TlsOptions): OpenSocket {
  // Once for all connections, because it parses the authorities.
  const secureContext = createSecureContext(ca === undefined ? {} : { ca });
  const name = servername ?? (isIP(host) === 0 ? host : undefined);
  // The last session of a server whose certificate was verified: Node emits it only then.
  let session: Buffer | undefined;
  return (listener) => {
    const socket = connectTls({
      host,
      port,
      lookup,
      secureContext,
      ALPNProtocols: ['http/1.1'],
      // Even if the environment of the process says otherwise.
      rejectUnauthorized: true,
      ...(session !== undefined && { session }),
      ...(name !== undefined && { servername: name }),
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, KEEP_ALIVE_MS);
    socket.on('connect', () => listener.onConnect());
    socket.on('secureConnect', () => listener.onReady());
    socket.on('session', (latest: Buffer) => {
      session = latest;
    });
    // Perhaps the server cannot resume this session.
    socket.on('error', () => {
      session = undefined;
    });
    socket.on('data', (bytes) => listener.onBytes(bytes));
    return socket;
  };
}
