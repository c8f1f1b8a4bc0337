import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/**
 * The socket is `redis.sock` in the folder. Redis does not write to disk, because the speed of the
 * disk would decide the figures.
 */
export function startRedis(dir: string): ChildProcess {
  const place = ['--port', '0', '--unixsocket', join(dir, 'redis.sock'), '--dir', dir];
  return spawn('redis-server', [...place, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' });
}

/** Returns the exit code, or the signal that ended the process. */
export async function endProcess(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }
  return child.exitCode ?? child.signalCode;
}

export function isReady(opsPort: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}
