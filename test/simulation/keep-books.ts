import type { Driver } from 'kysely';
import { entriesOf } from '../../src/books/engine/days.ts';
import { listDays } from '../../src/books/engine/migrate-books.ts';
import { INGEST_PACE, type IngestPace } from '../../src/books/ingest/ingest-pace.ts';
import { type Ingester, startIngester } from '../../src/books/ingest/start-ingester.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { keepClosing, type MonthReader, readMonths } from './keep-months.ts';
import { createSimulatedDatabase, type SimulatedDatabase } from './simulated-database.ts';
import { CLOCK_AHEAD_MAX_MS, type SimulatedStore } from './simulated-store.ts';
import { connectToStore } from './simulated-streams.ts';
import type { SimulatedProcess, SimulatedTime } from './simulated-time.ts';

const NODES = ['a', 'b'];
const WATCH_MS = 1_000;
const RESTART_MS = 2_000;
/** The clock of the store may itself be behind for so long. */
const BEHIND_MAX_MS = CLOCK_AHEAD_MAX_MS + 20_000;
/** Batches are small, so that there are many of them; rounds are rare, so that they take no time. */
const PACE: IngestPace = {
  ...INGEST_PACE,
  ...{ roundMs: 4_000, othersRoundMs: 6_000, lookMs: 20_000, leaseMs: 20_000 },
  ...{ batchEntriesMax: 5, keepMs: 180_000, trimMs: 10_000 },
};

interface World {
  readonly time: SimulatedTime;
  readonly store: SimulatedStore;
  readonly engine: Driver;
}

/** The books of a fleet. Its ingesters die, freeze, and start again. */
export interface SimulatedBooks {
  readonly database: SimulatedDatabase;
  readonly months: MonthReader;
  kill(index: number): void;
  freeze(index: number, durationMs: number): void;
  /** The books have everything that Redis had some time ago. */
  isCaughtUp(): boolean;
}

interface Bookkeeper {
  readonly process: SimulatedProcess;
  readonly ingester: Ingester;
}

export async function keepBooks({ time, store, engine }: World): Promise<SimulatedBooks> {
  const database = await createSimulatedDatabase(time, engine);
  let runs = 0;
  const start = (nodeId: string): Bookkeeper => {
    runs += 1;
    const run = `${nodeId} ${runs}`;
    const process = { name: `ingester ${nodeId}`, isAlive: true, frozenUntilMs: 0 };
    return time.inProcess(process, () => {
      const books = database.open(process);
      const ingester = startIngester({
        connection: connectToStore(store),
        books,
        clock: time,
        log: createMemoryLog(),
        findCost: () => undefined,
        waitingEntries: () => undefined,
        ...{ run, pace: PACE },
      });
      let master = store.masterId;
      const watch = () => {
        time.callLater(WATCH_MS, watch);
        if (store.isAway || store.masterId === master) return;
        master = store.masterId;
        ingester.noteMasterChange();
      };
      watch();
      keepClosing(time, books, months.problems);
      return { process, ingester };
    });
  };

  const months = readMonths(time, database);
  const nodes = NODES.map(start);
  return {
    database,
    months,
    kill(index) {
      const node = nodes[index % nodes.length] as Bookkeeper;
      node.process.isAlive = false;
      time.happenLater(RESTART_MS, () => {
        // Another fault may have killed it again meanwhile.
        if (!node.process.isAlive && nodes.includes(node)) {
          nodes[index % nodes.length] = start(NODES[index % nodes.length] as string);
        }
      });
    },
    freeze(index, durationMs) {
      const { process } = nodes[index % nodes.length] as Bookkeeper;
      process.frozenUntilMs = time.nowMs() + durationMs;
    },
    isCaughtUp: () =>
      nodes.some(({ ingester }) => {
        const { untilMs } = ingester.state();
        return untilMs !== undefined && untilMs > time.nowMs() - BEHIND_MAX_MS;
      }),
  };
}

export interface KeptEntry {
  readonly place: string;
  readonly requestId: string;
  readonly kind: string;
  readonly charged: number;
}

/** What the books have at the end, and what is wrong with them in themselves. */
export async function readBooks({ database: { books }, months }: SimulatedBooks) {
  const entries: KeptEntry[] = [];
  for (const day of await listDays(books)) {
    const rows = await books.db.selectFrom(entriesOf(day)).selectAll().execute();
    for (const { ms, seq, request, kind, charged } of rows) {
      entries.push({ place: `${ms}-${seq}`, requestId: request, kind, charged });
    }
  }
  const problems: string[] = [...months.problems];
  const seconds = await books.db
    .selectFrom('repeats')
    .selectAll()
    .where('fate', '=', 'second')
    .execute();
  for (const { request, kind } of seconds) problems.push(`${request} has a second ${kind}`);
  const gaps = await books.db.selectFrom('gaps').selectAll().execute();
  for (const { after, until } of gaps) problems.push(`the books lack ${after} to ${until}`);
  const damaged = await books.db.selectFrom('damaged').selectAll().execute();
  if (damaged.length > 0) problems.push(`${damaged.length} entries are damaged`);

  const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
  for (const table of [
    'usage_hours',
    'usage_days',
    'account_days',
    'fleet_hours',
    'account_totals',
    'key_months',
  ] as const) {
    const rows = await books.db.selectFrom(table).select('charged').execute();
    const added = rows.reduce((sum, row) => sum + row.charged, 0);
    if (added !== charged) problems.push(`${table} add up to ${added}, entries to ${charged}`);
  }
  return { entries, problems };
}
