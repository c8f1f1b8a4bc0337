import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

export interface DataDirLock {
  release(): void;
}

/**
 * Lets one primary use a data folder: two would overwrite each other's files. The lock is a socket
 * that only a living process answers, so a killed process leaves nothing to clean up by hand.
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = lockPathOf(dataDir);
  const holder = await findLockHolder(dataDir);
  if (holder !== undefined) {
    throw new Error(`the data folder ${dataDir} is in use by another Tollgate (process ${holder})`);
  }
  rmSync(path, { force: true });
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.end(String(process.pid));
  });
  server.listen(path);
  await once(server, 'listening');
  // If the process is out of file descriptors, the socket cannot answer, but the lock still holds.
  server.on('error', () => {});
  server.unref();
  return {
    release: () => {
      server.close();
    },
  };
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
  return join(dataDir, 'primary.sock');
}
