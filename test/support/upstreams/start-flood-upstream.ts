import { fork } from 'node:child_process';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { CleanUp } from '../create-temp-dir.ts';
import { readTcpQueues } from '../read-tcp-queues.ts';
import type { FloodCall } from './flood-upstream-main.ts';

const PROGRAM = 'dist/test/support/upstreams/flood-upstream-main.js';

export interface FloodUpstream {
  readonly url: string;
  calls(): Promise<readonly FloodCall[]>;
  /**
   * The bytes of each stream that its peer has read: those that left this process and wait in no
   * buffer of the system. The number may be too high by one write of the upstream.
   */
  readTakenBytes(): Promise<readonly number[]>;
  /** Streams send only their beginning until they are released. */
  hold(): Promise<void>;
  release(): Promise<void>;
  /** Every stream sends its last event and ends in order. */
  finish(): Promise<void>;
}

/** An upstream in its own process that sends its answers as fast as they are taken. */
export async function startFloodUpstream(
  cleanUp: CleanUp = onTestFinished,
): Promise<FloodUpstream> {
  const child = fork(PROGRAM, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  cleanUp(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  const url = `http://127.0.0.1:${port}`;
  const calls = async () => (await (await fetch(`${url}/calls`)).json()) as FloodCall[];
  const command = async (name: string) => {
    await fetch(`${url}/${name}`);
  };
  return {
    url,
    calls,
    async readTakenBytes() {
      const told = await calls();
      const queues = readTcpQueues();
      return told.map(({ localPort, remotePort, acceptedBytes }) => {
        const unsent = queues.get(`${localPort}-${remotePort}`)?.unsentBytes ?? 0;
        const unread = queues.get(`${remotePort}-${localPort}`)?.undecodedBytes ?? 0;
        return acceptedBytes - unsent - unread;
      });
    },
    hold: () => command('hold'),
    release: () => command('release'),
    finish: () => command('finish'),
  };
}
