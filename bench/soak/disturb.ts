import { setTimeout as sleep } from 'node:timers/promises';
import type { SoakNode } from './start-soak-nodes.ts';
import { pickOne } from './world.ts';

const LOOK_MS = 100;

interface DisturbOptions {
  readonly nodes: readonly SoakNode[];
  readonly durationMs: number;
  /** The time between two disturbances. The two kinds take turns. */
  readonly intervalMs: number;
  readonly killsWorkers: boolean;
  readonly isOver: () => boolean;
  readonly onDone: (what: string) => void;
}

interface ClusterShown {
  readonly workers: readonly { readonly pid: number; readonly state: string }[];
}

/**
 * Reloads a node and kills a worker by turns. In the second half of the run the first node is left
 * alone, so that the memory of its workers can be tracked.
 */
export async function disturb(options: DisturbOptions): Promise<void> {
  const { nodes, durationMs, intervalMs, killsWorkers, isOver, onDone } = options;
  const startedMs = performance.now();
  const acts: readonly ((node: SoakNode) => Promise<string>)[] = [
    async (node) => {
      node.reload();
      return 'reload';
    },
    ...(killsWorkers ? [killWorker] : []),
  ];
  for (let turn = 0; ; turn++) {
    const dueMs = startedMs + (turn + 1) * intervalMs;
    while (performance.now() < dueMs && !isOver()) await sleep(LOOK_MS);
    if (isOver()) return;
    const isSecondHalf = performance.now() - startedMs > durationMs / 2;
    const act = acts[turn % acts.length];
    if (act !== undefined) onDone(await act(pickOne(isSecondHalf ? nodes.slice(1) : nodes)));
  }
}

async function killWorker({ admin }: SoakNode): Promise<string> {
  const { workers } = await admin<ClusterShown>('GET', '/cluster');
  const listening = workers.filter(({ state }) => state === 'listening');
  // On a busy machine, all of them may be on their way up again.
  if (listening.length === 0) return 'nobody to kill';
  process.kill(pickOne(listening).pid, 'SIGKILL');
  return 'kill';
}
