import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { CallAdmin } from '../support/admin-api.ts';
import { checkLedger } from './check-ledger.ts';
import { disturb } from './disturb.ts';
import { type CostSpan, measureCost } from './measure-cost.ts';
import { type Growth, measureGrowth } from './measure-growth.ts';
import { operate } from './operate.ts';
import { type Books, findBrokenBounds, isNothingHeld, readBooks } from './read-books.ts';
import { runClient } from './run-client.ts';
import { type SoakNodes, startSoakNodes } from './start-soak-nodes.ts';
import { createSampler, type Sample } from './take-sample.ts';
import { watchAnswers } from './watch-answers.ts';
import { createWorld, type World } from './world.ts';

const SAMPLE_INTERVAL_MS = 5_000;
/**
 * Leases of holds last for a minute after their last renewal. Then come the sweeper and the
 * journal.
 */
const REST_MAX_MS = 120_000;
const REST_POLL_MS = 250;
/** More problems than this add no information. */
const BROKEN_KEPT_MAX = 100;

export interface SoakOptions {
  readonly durationMs: number;
  readonly clients: number;
  readonly rateWindowMs: number;
  readonly disturbIntervalMs: number;
  readonly killsWorkers: boolean;
  readonly onSample: (sample: Sample) => void;
}

export interface SoakResult {
  readonly samples: readonly Sample[];
  readonly growth: readonly Growth[];
  readonly cost: readonly CostSpan[];
  /** Requests by outcome: a status, `left`, `broken` (no complete answer) or `stuck`. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** What operators and disturbances did. */
  readonly done: Readonly<Record<string, number>>;
  readonly ledgerEntries: number;
  /** Every invariant that did not hold. Empty if all is well. */
  readonly broken: readonly string[];
}

/**
 * Runs a mixed load, brings the nodes to rest, and checks all of their records against each other.
 */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const broken = new Set<string>();
  const onBroken = (what: string) => {
    if (broken.size < BROKEN_KEPT_MAX) broken.add(what);
  };
  const soak = await startSoakNodes(options.rateWindowMs);
  try {
    const [first] = soak.nodes;
    if (first === undefined) throw new Error('there is no node');
    const world = await createWorld(first.admin);
    const answers = watchAnswers({ windowMs: options.rateWindowMs, onBroken });
    const load = await runLoad(options, { soak, world, note: answers.note, onBroken });
    if (load.outcomes.has('stuck')) onBroken('requests got no answer at all');
    const books = await waitForRest(soak, world, onBroken);
    if ((load.samples.at(-1)?.lostSettlements ?? 0) > 0) onBroken('settlements were lost');
    for (const node of soak.nodes) {
      const exit = await node.stop();
      if (exit !== 0) onBroken(`node ${node.name} ended with ${exit}`);
    }
    const ledger = await checkLedger({ ...soak, books, answeredIds: answers.answeredIds });
    for (const what of ledger.broken) onBroken(what);
    return {
      samples: load.samples,
      growth: measureGrowth(load.samples),
      cost: measureCost(load.samples),
      outcomes: Object.fromEntries(load.outcomes),
      done: Object.fromEntries(load.done),
      ledgerEntries: ledger.entries,
      broken: [...broken],
    };
  } finally {
    await soak.stop();
  }
}

interface LoadParts {
  readonly soak: SoakNodes;
  readonly world: World;
  readonly note: Parameters<typeof runClient>[0]['onAnswer'];
  readonly onBroken: (what: string) => void;
}

async function runLoad(options: SoakOptions, { soak, world, note, onBroken }: LoadParts) {
  const { durationMs, clients, killsWorkers, disturbIntervalMs } = options;
  const { nodes } = soak;
  const startedMs = performance.now();
  const isOver = () => performance.now() - startedMs >= durationMs;
  const [outcomes, done] = [new Map<string, number>(), new Map<string, number>()];
  let recent = new Map<string, number>();
  const links = { world, nodes, isOver, onDone: (what: string) => addOne(done, what) };
  const onEnd = (outcome: string) => {
    addOne(outcomes, outcome);
    addOne(recent, outcome);
  };
  const samples: Sample[] = [];
  const sampler = createSampler(soak);
  const watch = async () => {
    while (!isOver()) {
      const leftMs = startedMs + durationMs - performance.now();
      await sleep(Math.max(0, Math.min(SAMPLE_INTERVAL_MS, leftMs)));
      const atSeconds = (performance.now() - startedMs) / 1_000;
      const ended = Object.fromEntries(recent);
      recent = new Map();
      const sample = { atSeconds, outcomes: ended, ...(await sampler()) };
      samples.push(sample);
      options.onSample(sample);
      for (const { admin } of nodes) {
        for (const what of findBrokenBounds(await readBooks(admin, world))) onBroken(what);
      }
    }
  };
  await Promise.all([
    ...Array.from({ length: clients }, () => runClient({ ...links, onAnswer: note, onEnd })),
    operate(links),
    disturb({ ...links, durationMs, intervalMs: disturbIntervalMs, killsWorkers }),
    watch(),
  ]);
  return { samples, outcomes, done };
}

/** Nothing is held or in progress on either node, and the books have every entry. */
async function waitForRest(
  soak: SoakNodes,
  world: World,
  onBroken: (what: string) => void,
): Promise<Books> {
  const sampler = createSampler(soak);
  const dueMs = performance.now() + REST_MAX_MS;
  for (;;) {
    const { holds, settleQueue, journal } = await sampler();
    const [first] = soak.nodes;
    if (first === undefined) throw new Error('there is no node');
    const books = await readBooks(first.admin, world);
    const isAtRest = holds + settleQueue + journal === 0 && isNothingHeld(books);
    if (!isAtRest && performance.now() > dueMs) {
      onBroken(`after ${REST_MAX_MS / 1_000} s something is still held or on its way`);
    } else if (!isAtRest) {
      await sleep(REST_POLL_MS);
      continue;
    }
    for (const what of findBrokenBounds(books)) onBroken(what);
    await waitForEntries(first.admin, Date.now());
    return books;
  }
}

async function waitForEntries(admin: CallAdmin, sinceMs: number): Promise<void> {
  const areEntered = async () => {
    const { books_until: until } = await admin<{ books_until: string | null }>('GET', '/books');
    return until !== null && Date.parse(until) >= sinceMs;
  };
  await waitUntil(areEntered, 'the books have every entry', REST_MAX_MS);
}

function addOne(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}
