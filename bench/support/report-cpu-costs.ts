import { setTimeout as sleep } from 'node:timers/promises';
import { medianOf } from './median-of.ts';
import { writeResult } from './write-result.ts';

/** A burst fits into every queue. The pause after it empties the queues. */
const BURST_CALLS = 500;
const PAUSE_MS = 100;
const BURSTS = 20;
const ROUNDS = 5;

export interface Subject {
  readonly name: string;
  call(): void;
  /** Ends background work, whose time counts too. */
  settle(): Promise<void>;
}

/**
 * Measures the CPU time of this process per call, including everything in the background: medians
 * of 5 rounds. In each round every subject has its turn, an empty function first.
 */
export async function reportCpuCosts(
  scenario: string,
  createSubjects: () => readonly Subject[],
): Promise<void> {
  const costs = new Map<string, number[]>();
  // The first round is a warm-up.
  for (let round = 0; round <= ROUNDS; round++) {
    const empty = { name: 'an empty function', call() {}, settle: () => Promise.resolve() };
    for (const subject of [empty, ...createSubjects()]) {
      const micros = await measureMicros(subject);
      if (round > 0) costs.set(subject.name, [...(costs.get(subject.name) ?? []), micros]);
    }
  }
  const medians = [...costs].map(([name, rounds]) => ({ name, micros: medianOf(rounds), rounds }));
  const emptyMicros = medians[0]?.micros ?? 0;
  const rows = medians.map((row) => ({ ...row, ownMicros: row.micros - emptyMicros }));
  const lines = rows.map(
    ({ name, micros, ownMicros }) => `| ${name} | ${micros.toFixed(2)} | ${ownMicros.toFixed(2)} |`,
  );
  const head = ['| what | us per call | above the empty function |', '|---|--:|--:|'];
  writeResult(scenario, [...head, ...lines].join('\n'), { rows });
}

async function measureMicros({ call, settle }: Subject): Promise<number> {
  const before = process.cpuUsage();
  for (let burst = 0; burst < BURSTS; burst++) {
    for (let each = 0; each < BURST_CALLS; each++) call();
    await sleep(PAUSE_MS);
  }
  await settle();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (BURSTS * BURST_CALLS);
}
