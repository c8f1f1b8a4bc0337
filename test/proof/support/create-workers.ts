import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProofEvent, readEvents } from './event-log.ts';
import type { WorkerOrder } from './worker-order.ts';

const PROGRAM = 'dist/test/proof/support/worker-main.js';
export const WORKERS = 4;

export interface Workers {
  start(): void;
  /** Kills a worker, whatever it is doing, and starts another in its place. */
  replace(index: number): void;
  /** Resolves when all workers have finished their open requests. */
  stop(): Promise<void>;
  /** Kills all workers at once, whatever they are doing. */
  kill(): Promise<void>;
  /** Everything that the workers have recorded, including the dead ones. */
  readEvents(): ProofEvent[];
  wasKilled(tag: string): boolean;
}

/**
 * Starts four processes. A tag is a letter and the number of the process among all that were
 * started.
 */
export function createWorkers(order: Omit<WorkerOrder, 'tag'>): Workers {
  const tags: string[] = [];
  const killed = new Set<string>();
  const running = new Map<number, { tag: string; child: ChildProcess }>();
  let lives = 0;

  const start = (index: number) => {
    lives += 1;
    const tag = `w${String(lives).padStart(3, '0')}`;
    tags.push(tag);
    const file = join(order.dir, `${tag}.json`);
    // Each process makes its own choices, which are the same in every run.
    const seed = order.seed + lives * 1_000;
    writeFileSync(file, JSON.stringify({ ...order, tag, seed } satisfies WorkerOrder));
    writeFileSync(join(order.dir, tag), '');
    const child = fork(PROGRAM, [file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    running.set(index, { tag, child });
  };

  const end = async (child: ChildProcess) => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child.exitCode;
  };

  return {
    start() {
      for (let index = 0; index < WORKERS; index++) start(index);
    },
    replace(index) {
      const old = running.get(index);
      if (old === undefined) throw new Error(`there is no worker ${index}`);
      old.child.kill('SIGKILL');
      killed.add(old.tag);
      start(index);
    },
    async stop() {
      const codes = [...running.values()].map(({ child }) => {
        child.send('stop');
        return end(child);
      });
      const failed = (await Promise.all(codes)).filter((code) => code !== 0);
      if (failed.length > 0) throw new Error(`workers ended with ${failed.join(', ')}`);
    },
    async kill() {
      for (const { child } of running.values()) child.kill('SIGKILL');
      await Promise.all([...running.values()].map(({ child }) => end(child)));
    },
    readEvents: () => tags.flatMap((tag) => readEvents(join(order.dir, tag))),
    wasKilled: (tag) => killed.has(tag),
  };
}
