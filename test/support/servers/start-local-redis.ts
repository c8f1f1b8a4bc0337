import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RedisProcess } from './redis-process.ts';

/** The `redis-server` of this machine. */
export async function startLocalRedis(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RedisProcess> {
  const child = spawn('redis-server', args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += String(data);
    });
  }
  await once(child, 'spawn');
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    hasEnded,
    signal: (name) => {
      child.kill(name);
    },
    async kill() {
      if (hasEnded()) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
