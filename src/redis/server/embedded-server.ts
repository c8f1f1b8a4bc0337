import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DATA_FILES } from '../../lib/data-files.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../timers/pause.ts';
import { askSocket } from './ask-socket.ts';
import { EmbeddedStartError, INSTALL_BY_HAND } from './embedded-start-error.ts';
import { findRedisServer } from './find-redis-server.ts';
import { redisSocketPath } from './redis-socket-path.ts';
import { type ServerPlace, type ServerProcess, startServerProcess } from './server-process.ts';

/** The room that the kernel has for a path, without the byte that ends the path. */
const SOCKET_PATH_BYTES_MAX = process.platform === 'darwin' ? 103 : 107;
const LEFTOVER_REPLY_TIMEOUT_MS = 5_000;
/** A left-over server may have much to write before it ends. */
const LEFTOVER_STOP_TIMEOUT_MS = 30_000;
const RESTART_DELAY_MS = 100;
const RESTART_DELAY_MAX_MS = 5_000;
/** If a server lived longer than this, its death does not count as one more in a row. */
const QUICK_DEATH_MS = 10_000;
const QUICK_DEATHS_MAX = 5;

export interface EmbeddedServer {
  readonly socketPath: string;
  /** The process id of the server that runs now, or that ran last. */
  readonly pid: number;
  /** Ends the server. Its data stay for the next start. */
  stop(): Promise<void>;
}

interface EmbeddedServerOptions {
  readonly dataDir: string;
  readonly log: Log;
  /** The server dies again and again, and will not be started any more. */
  readonly onGiveUp: (error: Error) => void;
}

/**
 * Runs a redis-server (or valkey-server) of our own on a unix socket, with an append-only file in
 * the data folder, and starts it again when it dies. The caller makes sure that no other gateway
 * uses the folder. So a server already running there is a left-over, and is ended.
 */
export async function startEmbeddedServer({
  dataDir,
  log,
  onGiveUp,
}: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const home = resolve(dataDir);
  const socketPath = redisSocketPath(dataDir);
  checkSocketPath(socketPath);
  const found = await findRedisServer();
  if (found === undefined) {
    throw new EmbeddedStartError(
      `neither redis-server nor valkey-server was found. Start with --install-redis to have it installed.\n${INSTALL_BY_HAND}`,
    );
  }
  const place: ServerPlace = {
    binary: found.binary,
    dir: join(home, DATA_FILES.redis),
    socketPath,
  };
  mkdirSync(place.dir, { recursive: true, mode: 0o700 });
  await stopLeftover(socketPath, log);
  const first = await startServerProcess(place);
  await first.waitUntilReady().catch(async (error: unknown) => {
    await first.stop();
    throw error;
  });
  log.info({ binary: found.binary, version: found.version, redisPid: first.pid }, 'Redis started');
  const supervisor = supervise(first, place, log, onGiveUp);
  return {
    socketPath,
    get pid() {
      return supervisor.pid();
    },
    stop: supervisor.stop,
  };
}

/** Warns if a node had a Redis of its own, and is to use another one. */
export function warnOfLeftData(dataDir: string, log: Log): void {
  const dir = join(resolve(dataDir), DATA_FILES.redis);
  if (!existsSync(join(dir, 'appendonlydir'))) return;
  log.warn(
    { dir },
    'a Redis of this node left data that nobody reads: see "From one node to several" in deploy/README.md',
  );
}

function checkSocketPath(socketPath: string): void {
  const bytes = Buffer.byteLength(socketPath);
  if (bytes > SOCKET_PATH_BYTES_MAX) {
    throw new EmbeddedStartError(
      `the path of the socket ${socketPath} has ${bytes} bytes, and the system allows ` +
        `${SOCKET_PATH_BYTES_MAX}. Choose a data folder with a shorter path.`,
    );
  }
}

/**
 * A gateway that was killed could not stop its server. Ending that server is safe, because its file
 * has all its data.
 */
async function stopLeftover(socketPath: string, log: Log): Promise<void> {
  const ping = await askSocket(socketPath, 'PING', LEFTOVER_REPLY_TIMEOUT_MS);
  if (ping.kind === 'absent') return;
  if (ping.kind === 'reply') {
    log.warn({ socketPath }, 'stopping a Redis that an earlier run left behind');
    const end = await askSocket(socketPath, 'SHUTDOWN', LEFTOVER_STOP_TIMEOUT_MS);
    if (end.kind === 'closed' || end.kind === 'absent') return;
  }
  throw new EmbeddedStartError(
    `a Redis left behind by an earlier run holds ${socketPath} and does not end. ` +
      'End its process, and start again: its data are kept.',
  );
}

function supervise(
  first: ServerProcess,
  place: ServerPlace,
  log: Log,
  onGiveUp: (error: Error) => void,
): { pid(): number; stop(): Promise<void> } {
  let current = first;
  const stopping = new AbortController();

  /** Resolves or throws with the reason why this life ended. */
  const liveAgain = async (): Promise<string> => {
    current = await startServerProcess(place);
    try {
      if (stopping.signal.aborted) return 'stopped';
      await current.waitUntilReady();
      log.info({ redisPid: current.pid }, 'Redis is running again');
      return await current.ended;
    } finally {
      await current.stop();
    }
  };

  const watch = async (): Promise<void> => {
    let life = first.ended;
    for (let quickDeaths = 0; ; ) {
      const startMs = performance.now();
      const reason = await life.catch((error: Error) => error.message);
      if (stopping.signal.aborted) return;
      quickDeaths = performance.now() - startMs < QUICK_DEATH_MS ? quickDeaths + 1 : 1;
      log.error({ redisPid: current.pid, reason, quickDeaths }, 'Redis has died');
      if (quickDeaths >= QUICK_DEATHS_MAX) {
        onGiveUp(new Error(`Redis died ${quickDeaths} times in a row: ${reason}`));
        return;
      }
      const delayMs = Math.min(RESTART_DELAY_MS * 2 ** (quickDeaths - 1), RESTART_DELAY_MAX_MS);
      await pause(delayMs, stopping.signal);
      if (stopping.signal.aborted) return;
      life = liveAgain();
    }
  };

  const watched = watch();
  return {
    pid: () => current.pid,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watched;
    },
  };
}
