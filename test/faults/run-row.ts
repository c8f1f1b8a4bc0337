import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Books,
  findBrokenBounds,
  isNothingHeld,
  readBooks,
} from '../../bench/soak/read-books.ts';
import { watchAnswers } from '../../bench/soak/watch-answers.ts';
import type { World } from '../../bench/soak/world.ts';
import type { PostgresServer } from '../support/servers/start-postgres.ts';
import { waitUntil, waitUntilCalled } from '../support/wait-until.ts';
import type { Asked } from './support/ask.ts';
import { checkMoney, type MoneyFacts } from './support/check-money.ts';
import { createBooks } from './support/create-books.ts';
import { describeLongestWait, measureService } from './support/measure-service.ts';
import { readLedger, verifyLedger } from './support/read-ledger.ts';
import { type Load, runLoad } from './support/run-load.ts';
import type { FaultNode } from './support/start-node.ts';
import { RATE_WINDOW_MS, type Site, type SiteOptions, startSite } from './support/start-site.ts';
import { createFaultWorld } from './support/world.ts';

/** Before the fault, and after it. */
const CALM_MS = 4_000;
const LOOK_MS = 1_000;
/**
 * Leases last for a minute after their last renewal; then come the sweeper and the journal. A lease
 * whose admission was never heard of ends ten minutes later if the clock of Redis was ahead then.
 */
const REST_MAX_MS = 780_000;
/** The end of a report says most. */
const REPORT_MAX = 600;
const READS_MAX = 3;
const READ_AGAIN_MS = 10_000;
/** More add nothing. */
const VIOLATIONS_MAX = 20;

/** What a fault has at hand. */
export interface Scene {
  readonly site: Site;
  readonly postgres: PostgresServer;
  readonly world: World;
  readonly load: Load;
  /** Waits until the fault is over: requests are answered again, of every account that can pay. */
  waitForService(): Promise<void>;
  /** Something that the fault showed, for the line of the row. */
  note(text: string): void;
  violate(text: string): void;
}

export interface FaultRow {
  readonly number: number;
  readonly fault: string;
  readonly site: Omit<SiteOptions, 'booksUrl'>;
  /** Ends when everything that it broke is whole again. */
  act(scene: Scene): Promise<void>;
  /** False where the fault takes away what windows are counted by. */
  readonly areRatesExact?: boolean;
  /** The program that the nodes start with, if it is not the one of this checkout. */
  readonly startsWith?: () => string;
}

export interface RowResult {
  readonly row: number;
  readonly fault: string;
  readonly layout: string;
  readonly requests: number;
  readonly answered: number;
  /** Those of the answered that were sent when the fault was over. */
  readonly answeredAfter: number;
  /** All others, by what happened. */
  readonly others: Readonly<Record<string, number>>;
  /** The longest time in which no request was answered: of all, and of one account. */
  readonly outageMs: number;
  readonly accountOutageMs: number;
  /** The longest time to the head of an answer, or to a refusal. */
  readonly waitMaxMs: number;
  readonly lost: number;
  readonly doubled: number;
  readonly violations: readonly string[];
  readonly isVerified: boolean;
  /** How many times the bounds that hold at every moment were looked at. */
  readonly looks: number;
  readonly notes: readonly string[];
}

export interface RowOptions {
  /** For the books. */
  readonly postgres: PostgresServer;
  readonly requestsPerS: number;
}

export async function runRow(
  row: FaultRow,
  { postgres, requestsPerS }: RowOptions,
): Promise<RowResult> {
  const violations = new Set<string>();
  const violate = (text: string) => {
    if (violations.size < VIOLATIONS_MAX) violations.add(text);
  };
  const notes: string[] = [];
  const program = row.startsWith?.();
  const site = await startSite({
    ...{ ...row.site, booksUrl: await createBooks(postgres, row.number) },
    ...(program !== undefined && { program }),
  });
  try {
    const world = await createFaultWorld(site.admin);
    const watch = watchAnswers({
      windowMs: row.areRatesExact === false ? 0 : RATE_WINDOW_MS,
      onBroken: violate,
    });
    const load = runLoad({
      ...{ nodes: site.nodes, keys: world.keys, onHead: watch.note },
      requestsPerS,
    });
    const watching = watchBounds(site, world, violate);
    let overMs = Number.POSITIVE_INFINITY;
    try {
      await watching.stayCalm();
      const waitForService = () => waitForAnswers(load, world);
      await row.act({
        ...{ site, postgres, world, load, waitForService, violate },
        note: (text) => void notes.push(text),
      });
      overMs = performance.now();
      await watching.stayCalm();
    } finally {
      notes.push(...watching.stop());
      await load.stop();
    }
    const books = await waitForRest(site, world);
    const [node] = site.nodes;
    if (node === undefined) throw new Error('there is no node');
    if (load.asked.some(({ end }) => end === 'stuck')) violate('requests got no answer at all');
    const money = await readMoney(site.nodes, load.asked, books);
    for (const violation of money.violations) violate(violation);
    notes.push(...money.wrongRequests, describeLongestWait(load.asked));
    if (money.cutShort > 0) {
      notes.push(`${money.cutShort} answers were complete, and not charged yet, at a kill`);
    }
    const { isClean, report } = await verifyLedger(node);
    if (!isClean) notes.push(report.slice(-REPORT_MAX));
    return {
      ...{ row: row.number, fault: row.fault, layout: row.site.layout },
      ...measureService(load.asked, overMs),
      ...{ lost: money.lost, doubled: money.doubled, violations: [...violations] },
      ...{ isVerified: isClean, looks: watching.looks(), notes },
    };
  } finally {
    await site.remove();
  }
}

/** What must hold at every moment is looked at each second, while it can be seen. */
function watchBounds(site: Site, world: World, violate: (text: string) => void) {
  const stopping = new AbortController();
  let looks = 0;
  let lastProblem: string | undefined;
  const run = async () => {
    while (!stopping.signal.aborted) {
      try {
        for (const what of findBrokenBounds(await readBooks(site.admin, world))) violate(what);
        looks += 1;
      } catch (error) {
        lastProblem = (error as Error).message;
      }
      await sleep(LOOK_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  void run();
  return {
    looks: () => looks,
    /** On a busy machine, a look takes longer than the calm lasts. */
    async stayCalm() {
      const before = looks;
      await sleep(CALM_MS);
      await waitUntil(
        () => looks > before,
        () => `the bounds are looked at: ${lastProblem}`,
      );
    },
    /** Returns what is to be noted. */
    stop() {
      stopping.abort();
      return lastProblem === undefined ? [] : [`a look failed: ${lastProblem}`];
    },
  };
}

async function waitForAnswers(load: Load, world: World): Promise<void> {
  const rich = world.accounts.filter(({ isPoor }) => !isPoor);
  const since = load.asked.length;
  const sinceMs = performance.now();
  await waitUntil(
    () => {
      const recent = load.asked.slice(since);
      const served = new Set(
        recent.flatMap(({ key, status, sentMs }) =>
          status === 200 && sentMs > sinceMs ? key.account.id : [],
        ),
      );
      return rich.every(({ id }) => served.has(id));
    },
    'every account is served again',
    REST_MAX_MS,
  );
}

/** By a clock that was ahead, entries are in the books some seconds after they are told to be. */
async function readMoney(
  nodes: readonly FaultNode[],
  asked: readonly Asked[],
  books: Books,
): Promise<MoneyFacts> {
  const [node] = nodes;
  if (node === undefined) throw new Error('there is no node');
  for (let time = 1; ; time += 1) {
    const money = checkMoney(asked, await readLedger(node), { books, nodes });
    const isRight = money.lost + money.doubled + money.violations.length === 0;
    if (isRight || time === READS_MAX) return money;
    await sleep(READ_AGAIN_MS);
  }
}

async function waitForRest(site: Site, world: World) {
  await waitUntil(
    async () => {
      const ready = await Promise.all(site.nodes.map((node) => node.isReady()));
      return ready.every(Boolean);
    },
    'all nodes are ready',
    REST_MAX_MS,
  );
  await waitUntilCalled(
    async () => isNothingHeld(await readBooks(site.admin, world)),
    'nothing is held',
    REST_MAX_MS,
  );
  const restMs = Date.now();
  await waitUntilCalled(
    async () => {
      const path = '/books';
      const { books_until: until } = await site.admin<{ books_until: string | null }>('GET', path);
      return until !== null && Date.parse(until) >= restMs;
    },
    'the books have every entry',
    REST_MAX_MS,
  );
  return readBooks(site.admin, world);
}
