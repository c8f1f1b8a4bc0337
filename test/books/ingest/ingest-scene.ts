import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { entriesOf } from '../../../src/books/engine/days.ts';
import { listDays } from '../../../src/books/engine/migrate-books.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import type { IngestPace } from '../../../src/books/ingest/ingest-pace.ts';
import { type Ingester, startIngester } from '../../../src/books/ingest/start-ingester.ts';
import { watchWaiting } from '../../../src/books/ingest/watch-waiting.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  type TestConnection,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Whatever must reach an age in a real node is old enough at once here. */
export const HASTY_PACE: IngestPace = {
  roundMs: 5,
  othersRoundMs: 5,
  batchRestMs: 0,
  lateMs: 5_000,
  // An entry of this very millisecond may still get a neighbour.
  entryAgeMs: 1,
  keepMs: 86_400_000,
  lookMs: 0,
  trimMs: 0,
  leaseMs: 1_000,
  renewedMsMax: 30_000,
  restMs: 50,
  batchEntriesMax: 2_000,
  batchBytesMax: 4 * 1024 ** 2,
  namesMs: 600_000,
};

const COUNT_MS = 20;

interface StartOptions {
  readonly books: Books;
  readonly nodeId?: string;
  readonly pace?: Partial<IngestPace>;
  readonly connection?: Pick<TestConnection, 'client' | 'isCluster' | 'send'>;
}

export interface IngestServer {
  readonly server: TestRedisServer;
  readonly connection: TestConnection;
  /** An ingester that ends with the test. */
  start(options: StartOptions): {
    readonly ingester: Ingester;
    readonly log: ReturnType<typeof createMemoryLog>;
    /** Each round makes at least one call, to ask for the lease. */
    waitForCalls(calls: number): Promise<void>;
  };
}

/** A server for the tests of a file. It is empty at the start of each test. */
export function useIngestServer(): IngestServer {
  let server: TestRedisServer | undefined;
  let connection: TestConnection | undefined;
  const running = new Set<Ingester>();

  beforeAll(async () => {
    server = await startRedisServer();
    connection = openConnection(standalone(tcp(server.port)));
    await waitForRedis(connection);
  });
  afterEach(async () => {
    await Promise.all([...running].map((ingester) => ingester.stop()));
    running.clear();
    await server?.cli('flushall');
  });
  afterAll(async () => {
    await closeConnections();
    await stopRedisServers();
  });

  return {
    get server() {
      return existing(server);
    },
    get connection() {
      return existing(connection);
    },
    start(options) {
      const started = start(existing(connection), options);
      running.add(started.ingester);
      return started;
    },
  };
}

function start(shared: TestConnection, options: StartOptions) {
  const { books, nodeId = 'a', pace, connection = shared } = options;
  const log = createMemoryLog();
  let calls = 0;
  const waiting = watchWaiting({
    ...{ connection, nodeId, everyMs: COUNT_MS, keptMs: 60_000, log: createMemoryLog() },
  });
  const ingester = startIngester({
    connection: {
      client: connection.client,
      isCluster: connection.isCluster,
      send: (command, args) => {
        calls++;
        return connection.send(command, args);
      },
    },
    books,
    run: `${nodeId} ${randomUUID()}`,
    clock: { nowMs: () => Date.now() },
    log,
    findCost: () => 100,
    waitingEntries: waiting.waitingEntries,
    pace: { ...HASTY_PACE, ...pace },
  });
  const waitForCalls = async (count: number) => {
    const enough = calls + count;
    await waitUntil(() => calls >= enough, `${count} calls were made`);
  };
  const stop = () => {
    waiting.stop();
    return ingester.stop();
  };
  return { ingester: { ...ingester, stop }, log, waitForCalls };
}

/** Every entry of the books, of all days. */
export async function readEntries(books: Books): Promise<EntryRow[]> {
  const days = await Promise.all(
    (await listDays(books))
      .reverse()
      .map((day) => books.db.selectFrom(entriesOf(day)).selectAll().execute()),
  );
  return days.flat();
}

/** The places of all entries and payments. */
export async function placesInBooks(books: Books): Promise<Set<string>> {
  const entries = await readEntries(books);
  const payments = await books.db.selectFrom('payments').selectAll().execute();
  return new Set([...entries, ...payments].map(({ bucket, ms, seq }) => `${bucket} ${ms}-${seq}`));
}

export async function waitUntilInBooks(books: Books, places: ReadonlySet<string>): Promise<void> {
  await waitUntil(async () => {
    const found = await placesInBooks(books);
    return [...places].every((place) => found.has(place));
  }, 'everything is in the books');
}

function existing<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the server runs while tests do');
  return value;
}
