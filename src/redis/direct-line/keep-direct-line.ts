import { connect, type Socket } from 'node:net';
import type { Redis } from 'ioredis';
import type { RedisTarget } from '../../lib/address/redis-target.ts';
import { waitAtMost } from '../../timers/wait-at-most.ts';
import { DirectLine, type DirectLineOptions } from './direct-line.ts';

const CONNECT_TIMEOUT_MS = 1_000;
const KEEP_ALIVE_MS = 5_000;
const RETRY_DELAY_MS = 250;
const READ_BYTES_MAX = 64 * 1_024;

type LineParts = Pick<DirectLineOptions, 'askElsewhere' | 'commandTimeoutMs' | 'onCommand'>;

interface LineKeeperOptions extends LineParts {
  readonly target: RedisTarget;
  readonly name: string;
}

interface LineKeeper {
  /** Undefined while there is no usable line: then the caller uses the client. */
  current(): DirectLine | undefined;
  /** Waits for replies that are due, within the command timeout. */
  close(): Promise<void>;
}

/**
 * Keeps a line to the server that the client is connected to. The client finds the server, also
 * after a failover. It takes over if there is no line, or if the line gets an error reply, so the
 * line needs no code for these cases.
 *
 *   none ──client is ready──▶ connecting ──logged in──▶ current
 *    ▲ ▲                          │ fails                 │ lost
 *    │ └──────── a pause ─────────┴───────────────────────┘
 *    └── the client has lost its server ─── from everywhere
 */
export function keepDirectLine(client: Redis, options: LineKeeperOptions): LineKeeper {
  let current: DirectLine | undefined;
  /** Set also while the line logs in. */
  let line: DirectLine | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  // Every read of this line uses the same buffer, one after another.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES_MAX);

  const drop = () => {
    clearTimeout(retry);
    retry = undefined;
    current = undefined;
    const dropped = line;
    line = undefined;
    dropped?.close();
  };

  const open = () => {
    drop();
    const address = addressOf(client, options.target);
    if (isClosed || address === undefined) return;
    const socket = connect({
      ...address,
      onread: {
        buffer,
        callback: (length) => {
          opened.receive(buffer.subarray(0, length));
          return true;
        },
      },
    });
    let isLoggedIn = false;
    const opened: DirectLine = new DirectLine({
      ...options,
      socket,
      askElsewhere: (name, args) =>
        isLoggedIn ? options.askElsewhere(name, args) : Promise.reject(new Error('not logged in')),
      onLost() {
        if (line !== opened) return;
        current = undefined;
        line = undefined;
        if (client.status === 'ready') retry = setTimeout(open, RETRY_DELAY_MS).unref();
      },
    });
    line = opened;
    prepare(socket, opened);
    logIn(opened, options).then(
      () => {
        isLoggedIn = true;
        if (line === opened) current = opened;
      },
      () => opened.close(),
    );
  };

  client.on('ready', open);
  client.on('close', drop);

  return {
    current: () => (current?.isUsable === true ? current : undefined),
    async close() {
      isClosed = true;
      // Replies come in order, so the reply to this last command is the last one.
      const last = current?.send('ping', []).catch(() => {});
      if (last !== undefined) await waitAtMost(options.commandTimeoutMs, last);
      drop();
    },
  };
}

type Address = { readonly path: string } | { readonly host: string; readonly port: number };

/** Undefined if only the client can connect. */
function addressOf(client: Redis, target: RedisTarget): Address | undefined {
  if (target.tls) return undefined;
  if (target.topology === 'standalone' && target.endpoint.kind === 'unix') {
    return { path: target.endpoint.path };
  }
  const { remoteAddress, remotePort } = client.stream as Socket;
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return { host: remoteAddress, port: remotePort };
}

function prepare(socket: Socket, line: DirectLine): void {
  const timer = setTimeout(() => line.close(), CONNECT_TIMEOUT_MS);
  socket.once('connect', () => clearTimeout(timer));
  socket.once('close', () => clearTimeout(timer));
  socket.setNoDelay(true);
  socket.setKeepAlive(true, KEEP_ALIVE_MS);
}

async function logIn(line: DirectLine, { target, name }: LineKeeperOptions): Promise<void> {
  const { username, password } = target.auth;
  if (password !== undefined) {
    const user = username === undefined ? [] : [username];
    await line.send('auth', [...user, password.reveal()]);
  }
  if ('database' in target && target.database !== 0) {
    await line.send('select', [String(target.database)]);
  }
  await line.send('client', ['setname', `${name}-direct`]);
}
