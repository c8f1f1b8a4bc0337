import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askSocket } from './ask-socket.ts';
import { EmbeddedStartError } from './embedded-start-error.ts';

/** Until the server answers at all. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Until a large append-only file has been read. */
const LOADING_TIMEOUT_MS = 300_000;
const POLL_MS = 20;
const PING_TIMEOUT_MS = 1_000;
const STOP_TIMEOUT_MS = 10_000;
/** At log level `notice` a server writes a few lines a day. The size is checked on every start. */
const LOG_BYTES_MAX = 4 * 1_024 * 1_024;
const LOG_TAIL_BYTES = 1_500;

/** One life of a server: from its start to its end, expected or not. */
export interface ServerProcess {
  readonly pid: number;
  /** Resolves when the process ends, with how it ended and the end of its log. */
  readonly ended: Promise<string>;
  /** Throws if the process ends first or takes too long. */
  waitUntilReady(): Promise<void>;
  stop(): Promise<void>;
}

export interface ServerPlace {
  readonly binary: string;
  /** The server's working directory, which holds its data and its log. */
  readonly dir: string;
  readonly socketPath: string;
}

export async function startServerProcess(place: ServerPlace): Promise<ServerProcess> {
  const logPath = join(place.dir, 'redis.log');
  rotateLog(logPath);
  const logFile = openSync(logPath, 'a+', 0o600);
  const logStart = fstatSync(logFile).size;
  const child = spawn(place.binary, serverArgs(place), {
    cwd: place.dir,
    // A process group of its own: Ctrl-C in a terminal must reach only the gateway, which stops the
    // server when the last stream has been settled.
    detached: true,
    stdio: ['ignore', logFile, logFile],
  });
  const ended = new Promise<string>((settle) => {
    child.once('exit', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const lastWords = readTail(logFile, logStart);
      closeSync(logFile);
      settle(lastWords === '' ? how : `${how}, after saying:\n${lastWords}`);
    });
  });
  try {
    await once(child, 'spawn');
  } catch (cause) {
    closeSync(logFile);
    throw new EmbeddedStartError(`${place.binary} cannot be run: ${(cause as Error).message}`, {
      cause,
    });
  }
  // Only sending a signal can still fail here: the `exit` event reports the end of the process.
  child.on('error', () => {});
  return {
    pid: child.pid ?? 0,
    ended,
    waitUntilReady: () => waitUntilReady(child, ended, place.socketPath),
    stop: () => stopChild(child, ended),
  };
}

function serverArgs({ dir, socketPath }: ServerPlace): string[] {
  return [
    ...['--port', '0', '--unixsocket', socketPath, '--unixsocketperm', '600', '--dir', dir],
    // There is no replica, so acknowledged writes must be on the disk.
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''],
    ...['--maxmemory-policy', 'noeviction', '--loglevel', 'notice', '--daemonize', 'no'],
  ];
}

async function waitUntilReady(
  child: ChildProcess,
  ended: Promise<string>,
  socketPath: string,
): Promise<void> {
  let timeoutMs = ANSWER_TIMEOUT_MS;
  for (const startMs = performance.now(); performance.now() - startMs < timeoutMs; ) {
    if (hasEnded(child)) throw new EmbeddedStartError(`${child.spawnfile}: ${await ended}`);
    const reply = await askSocket(socketPath, 'PING', PING_TIMEOUT_MS);
    if (reply.kind === 'reply' && reply.line === '+PONG') return;
    if (reply.kind === 'reply' && reply.line.startsWith('-LOADING')) timeoutMs = LOADING_TIMEOUT_MS;
    await sleep(POLL_MS);
  }
  throw new EmbeddedStartError(
    `${child.spawnfile} did not get ready within ${timeoutMs / 1_000} s on ${socketPath}`,
  );
}

/** A server that gets SIGTERM writes its file to the end before it exits. */
async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  if (hasEnded(child)) return;
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > LOG_BYTES_MAX) renameSync(path, `${path}.1`);
}

function readTail(file: number, from: number): string {
  const { size } = fstatSync(file);
  const start = Math.max(from, size - LOG_TAIL_BYTES);
  const tail = Buffer.alloc(size - start);
  readSync(file, tail, 0, tail.length, start);
  return tail.toString('utf8').trim();
}
