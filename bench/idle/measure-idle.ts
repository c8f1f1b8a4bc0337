import { setTimeout as sleep } from 'node:timers/promises';
import { type SeenCommand, watchCommands } from '../../test/support/servers/watch-commands.ts';
import { isShared, purposeOf } from './sort-commands.ts';

/** Commands a second. */
export interface IdleCost {
  readonly nodes: number;
  /** Of all nodes together, for work that any one of them does. */
  readonly shared: number;
  /** Of each node, for itself. */
  readonly own: number;
  /** Of all nodes together, by what they are for, the most frequent first. */
  readonly byPurpose: readonly (readonly [purpose: string, perSecond: number])[];
}

/** Counts for so long what the servers get from nodes that have nothing to do. */
export async function measureIdle(
  ports: readonly number[],
  nodes: number,
  seconds: number,
): Promise<IdleCost> {
  const watches = await Promise.all(ports.map((port) => watchCommands(port)));
  const startedMs = performance.now();
  await sleep(seconds * 1_000);
  const tookS = (performance.now() - startedMs) / 1_000;
  const seen = (await Promise.all(watches.map((watch) => watch.read()))).flat();
  for (const watch of watches) watch.stop();
  return sumUp(seen, nodes, tookS);
}

function sumUp(seen: readonly SeenCommand[], nodes: number, tookS: number): IdleCost {
  const counts = new Map<string, number>();
  for (const command of seen) {
    const purpose = purposeOf(command);
    counts.set(purpose, (counts.get(purpose) ?? 0) + 1);
  }
  const shared = seen.filter(isShared).length;
  return {
    nodes,
    shared: shared / tookS,
    own: (seen.length - shared) / tookS / nodes,
    byPurpose: [...counts]
      .map(([purpose, count]) => [purpose, count / tookS] as const)
      .sort(([, a], [, b]) => b - a),
  };
}

/** What so many nodes would ask of Redis together. */
export function totalOf({ shared, own }: IdleCost, nodes: number): number {
  return shared + nodes * own;
}
