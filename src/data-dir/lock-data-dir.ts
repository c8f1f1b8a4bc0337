import { mkdirSync, rmSync, statSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATA_FILES } from '../lib/data-files.ts';

interface DataDirLock {
  release(): void;
}

/** Nodes that start at the same moment may each take away what another one has just left. */
const ATTEMPTS_MAX = 10;
/** Longer than a process needs from making its socket to listening. */
const PAUSE_MS = 50;

/**
 * Lets one primary use a data folder: two would overwrite each other's files. The lock is a socket
 * that only a living process answers, so a killed process leaves nothing to clean up by hand. Only
 * one process can make the socket, however many try.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = lockPathOf(dataDir);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const lock = await makeSocket(path);
    if (lock !== undefined) return lock;
    const found = identify(path);
    await assertNobodyAnswers(dataDir);
    // Not a socket that somebody has made since.
    if (found === identify(path)) rmSync(path, { force: true });
  }
  throw new Error(`the lock of the data folder ${dataDir} cannot be taken`);
}

/** Undefined if there is already a socket. */
function makeSocket(path: string): Promise<DataDirLock | undefined> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(String(process.pid));
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => {
      // If the process is out of file descriptors, the socket cannot answer, but the lock still
      // holds.
      server.on('error', () => {});
      server.unref();
      resolve({ release: () => void server.close() });
    });
  });
}

async function assertNobodyAnswers(dataDir: string): Promise<void> {
  for (const pauseMs of [0, PAUSE_MS]) {
    await sleep(pauseMs);
    const holder = await findLockHolder(dataDir);
    if (holder !== undefined) {
      const whose = `another Tollgate (process ${holder})`;
      throw new Error(`the data folder ${dataDir} is in use by ${whose}`);
    }
  }
}

/** Distinguishes a socket from the next one, which may have the same inode. */
function identify(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? '' : `${found.ino} ${found.ctimeNs}`;
}

/** Returns the process that holds the lock, without disturbing it. */
export function findLockHolder(dataDir: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(lockPathOf(dataDir));
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('error', () => resolve(undefined));
    socket.on('end', () => resolve(answer));
  });
}

function lockPathOf(dataDir: string): string {
  return join(dataDir, DATA_FILES.lock);
}
