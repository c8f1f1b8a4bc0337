import { sql } from 'kysely';
import type { Books } from '../../books/engine/books.ts';
import { openBooks } from '../../books/engine/open-books.ts';
import type { BooksTarget } from '../../lib/address/books-target.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { formatByteSize } from '../../lib/units/parse-byte-size.ts';
import { type Finding, failCheck, passCheck, warnCheck } from '../finding.ts';
import type { BooksAccess } from './books-access.ts';
import { checkServerRights } from './check-server-rights.ts';
import { readContents } from './read-contents.ts';

const CONNECTIONS = 2;
const QUESTIONS = 20;
const LATENCY_MS_WARN = 20;
const SKEW_MAX_MS = 1_000;
const VERSION_MIN = 140_000;
const MEBIBYTE = 1024 ** 2;

type Server = Extract<BooksTarget, { readonly kind: 'postgres' }>;

/** Rejects with the reason if the server does not answer. */
export async function openServer(target: Server): Promise<BooksAccess> {
  const books = openBooks({
    target: { ...target, connectionsMax: CONNECTIONS },
    isReader: false,
    name: 'doctor',
  });
  try {
    const { name } = await readRow<{ name: string }>(
      books,
      sql`select current_user || ' at ' || coalesce(host(inet_server_addr()) || ':'
        || inet_server_port(), 'a socket') || '/' || current_database() as name`,
    );
    return {
      name,
      contents: await readContents(books),
      checkLatency: () => checkLatency(books),
      checkVersion: () => checkVersion(books),
      checkRights: () => checkServerRights(books),
      checkPersistence: () => checkPersistence(books),
      checkClock: (clock) => checkClock(books, clock),
      checkSpace: () => checkSpace(books),
      close: books.close,
    };
  } catch (error) {
    await books.close();
    throw error;
  }
}

async function checkLatency(books: Books): Promise<Finding> {
  const tookMs: number[] = [];
  for (let n = 0; n < QUESTIONS; n++) {
    const startMs = performance.now();
    await readRow(books, sql`select 1`);
    tookMs.push(performance.now() - startMs);
  }
  const medianMs = tookMs.sort((one, other) => one - other)[QUESTIONS / 2] ?? 0;
  const found = `${medianMs.toFixed(2)} ms`;
  return medianMs > LATENCY_MS_WARN
    ? warnCheck(found, 'Run the server of the books nearer to the nodes: every batch waits for it.')
    : passCheck(found);
}

async function checkVersion(books: Books): Promise<Finding> {
  const { version, number } = await readRow<{ version: string; number: number }>(
    books,
    sql`select current_setting('server_version') as version,
      current_setting('server_version_num')::bigint as number`,
  );
  return number >= VERSION_MIN
    ? passCheck(`Postgres ${version}`)
    : failCheck(`Postgres ${version}`, 'Run Postgres 14 or newer.');
}

async function checkPersistence(books: Books): Promise<Finding> {
  const { broken, late } = await readRow<{ broken: string | null; late: boolean }>(
    books,
    sql`select string_agg(name, ', ' order by name) filter (where name <> 'synchronous_commit') as broken,
      coalesce(bool_or(name = 'synchronous_commit'), false) as late
      from pg_settings where setting = 'off'
      and name in ('fsync', 'full_page_writes', 'synchronous_commit')`,
  );
  if (broken !== null) {
    return failCheck(
      `a crash of the machine may destroy the books: ${broken} = off`,
      `Switch on ${broken}, and reload the settings of the server.`,
    );
  }
  return late
    ? warnCheck(
        'synchronous_commit is off: a crash takes the last commits back',
        'Set synchronous_commit on; until then nodes enter again what Redis still has.',
      )
    : passCheck('each commit is on the disk');
}

async function checkClock(books: Books, clock: Clock): Promise<Finding> {
  const beforeMs = clock.nowMs();
  const { ms } = await readRow<{ ms: number }>(
    books,
    sql`select extract(epoch from clock_timestamp()) * 1000 as ms`,
  );
  const errorMs = (clock.nowMs() - beforeMs) / 2;
  const offsetMs = ms - (beforeMs + errorMs);
  if (Math.abs(offsetMs) - errorMs <= SKEW_MAX_MS) {
    return passCheck(`they agree within ${SKEW_MAX_MS / 1_000} s`);
  }
  const side = offsetMs > 0 ? 'ahead of' : 'behind';
  return warnCheck(
    `the clock of the server is ${(Math.abs(offsetMs) / 1_000).toFixed(1)} s ${side} this machine's`,
    'Set the clocks with NTP or chrony.',
  );
}

async function checkSpace(books: Books): Promise<Finding> {
  const { bytes } = await readRow<{ bytes: number }>(
    books,
    sql`select pg_database_size(current_database()) as bytes`,
  );
  const size = formatByteSize(Math.ceil(bytes / MEBIBYTE) * MEBIBYTE);
  return passCheck(`the database has ${size}; the free space on its disk is unknown`);
}

async function readRow<Row>(books: Books, query: ReturnType<typeof sql>): Promise<Row> {
  const { rows } = await query.execute(books.db);
  return rows[0] as Row;
}
