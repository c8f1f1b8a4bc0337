/**
 * `ingest [ENTRIES]` fills the streams of Redis and takes them into the books, with libsql and with
 * Postgres. It tells what 1,000 entries cost in CPU time: of the process that ingests, apart from
 * that of Postgres. Batches are those of a fleet with 1,000 requests per second, and full ones.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { Books } from '../../src/books/engine/books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { INGEST_PACE, type IngestPace } from '../../src/books/ingest/ingest-pace.ts';
import { startIngester } from '../../src/books/ingest/start-ingester.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { createTempDir } from '../../test/support/create-temp-dir.ts';
import { createMemoryLog } from '../../test/support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../test/support/servers/redis-connection.ts';
import { type PostgresServer, startPostgres } from '../../test/support/servers/start-postgres.ts';
import {
  startRedisServer,
  stopRedisServers,
} from '../../test/support/servers/start-redis-server.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { fillStreams } from '../books/fill-streams.ts';
import { writeResult } from '../support/write-result.ts';

const ENTRIES = Number(process.argv[3] ?? 50_000);
const BATCHES = [1_000, INGEST_PACE.batchEntriesMax];
const WAIT_MAX_MS = 600_000;
/** The kernel counts CPU time in these. */
const TICKS_PER_SECOND = 100;
const STATE_FIELDS = { ppid: 1, utime: 11, cstime: 14 };

const undos: (() => void | Promise<void>)[] = [];
const cleanUp = (undo: () => void | Promise<void>) => undos.unshift(undo);
const redis = await startRedisServer();
const connection = openConnection(standalone(tcp(redis.port)), 10_000);
await waitForRedis(connection);
const postgres = await startPostgres((undo) => cleanUp(undo), ['-c', 'fsync=on']);

/** Of a server of Postgres with all its processes, in ms. */
function readCpuMs(server: PostgresServer): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = readState(pid);
    const isOfServer =
      Number(pid) === server.pid() || Number(fields[STATE_FIELDS.ppid]) === server.pid();
    if (!isOfServer) continue;
    const { utime, cstime } = STATE_FIELDS;
    for (const field of fields.slice(utime, cstime + 1)) ticks += Number(field);
  }
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** What follows the name of the program, which may have spaces. */
function readState(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

async function countEntries(books: Books): Promise<number> {
  const rows = await books.db.selectFrom('account_totals').select('entries').execute();
  return rows.reduce((sum, { entries }) => sum + entries, 0);
}

async function measure(target: BooksTarget, pace: IngestPace) {
  await redis.cli('flushall');
  await fillStreams(connection, ENTRIES);
  const filledMs = Date.now();
  const books = openBooks({ target, isReader: false, name: 'bench' });
  await migrateBooks(books, Date.now());
  const cpuBefore = process.cpuUsage();
  const serverBefore = readCpuMs(postgres);
  const startedMs = performance.now();
  const ingester = startIngester({
    ...{ connection, books, run: 'bench 1', clock: { nowMs: () => Date.now() } },
    ...{ log: createMemoryLog(), findCost: () => 900, waitingEntries: () => undefined, pace },
  });
  await waitUntil(() => (ingester.state().untilMs ?? 0) > filledMs, 'all is read', WAIT_MAX_MS);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const serverMs = readCpuMs(postgres) - serverBefore;
  await ingester.stop();
  const written = await countEntries(books);
  if (written !== ENTRIES) throw new Error(`${written} of ${ENTRIES} entries are in the books`);
  await books.close();
  return {
    engine: target.kind === 'file' ? 'libsql' : 'Postgres',
    batch: pace.batchEntriesMax,
    nodeMsPer1000: (user + system) / ENTRIES,
    serverMsPer1000: (serverMs * 1_000) / ENTRIES,
    entriesPerSecond: (ENTRIES * 1_000) / tookMs,
  };
}

const rows: Awaited<ReturnType<typeof measure>>[] = [];
for (const batchEntriesMax of BATCHES) {
  const pace = { ...INGEST_PACE, batchEntriesMax };
  rows.push(await measure({ kind: 'file', dir: createTempDir((undo) => cleanUp(undo)) }, pace));
  const url = await postgres.createDatabase(`batch_${batchEntriesMax}`);
  rows.push(await measure({ kind: 'postgres', url, connectionsMax: 2 }, pace));
}
const lines = rows.map(
  ({ engine, batch, nodeMsPer1000, serverMsPer1000, entriesPerSecond }) =>
    `| ${engine} | ${batch} | ${nodeMsPer1000.toFixed(0)} ms | ${serverMsPer1000.toFixed(0)} ms | ${entriesPerSecond.toFixed(0)} |`,
);
const head = [
  '| engine | batch | CPU of the node per 1,000 entries | CPU of Postgres | entries/s |',
  '|---|--:|--:|--:|--:|',
];
writeResult('ingest', [...head, ...lines].join('\n'), { rows });
await closeConnections();
await stopRedisServers();
for (const undo of undos) await undo();
