import { minuteOfRequest } from '../../../lib/request-id.ts';
import { keysOfBucket } from '../../../quota/keys-of-bucket.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, entriesOf, msOfDay } from '../../engine/days.ts';
import { listDays } from '../../engine/migrate-books.ts';
import type { EntryRow } from '../../engine/tables.ts';
import { forEachBucket } from '../../stream/for-each-bucket.ts';
import { CLOCK_DIFFERENCE_MAX_MS, LATE_WITHIN_MAX_MS } from '../../stream/late-entries.ts';
import { readIngestion } from '../../writing/write-batch.ts';
import type { QuestionSource } from '../question.ts';
import { yieldTurn } from '../yield-turn.ts';
import { compareRows, mergeRows } from './merge-rows.ts';
import { searchStreams } from './search-streams.ts';

/** The longest exchange, what settles it afterwards, and what is late then. */
const ENTERED_WITHIN_MAX_MS = 27 * 3_600_000;

/** After these nothing follows, unless Redis loses them. */
const FINAL_KINDS: ReadonlySet<EntryRow['kind']> = new Set(['charge', 'release', 'refused']);

/** What a request that has not ended holds. */
export interface RunningRequest {
  readonly account: string;
  readonly key: string;
  readonly month: string;
  readonly model: string;
  readonly heldMicros: number;
  /** What it had cost when its hold was renewed last. */
  readonly seenMicros: number;
}

export type FoundRequest =
  | { readonly kind: 'running'; readonly hold: RunningRequest }
  /** In the order of time; at least one. */
  | { readonly kind: 'ended'; readonly entries: readonly EntryRow[] }
  | { readonly kind: 'unknown' };

interface RequestToFind {
  readonly requestId: string;
  /** Set if it is known: then only ended requests are searched for, and only there. */
  readonly bucket?: number | undefined;
}

/**
 * Looks a request up by its id alone. The id contains its minute, and so gives its days in the
 * books. Redis is asked only if the books may lack something: for its hold, and for entries that
 * are not in the books yet. The books are read again after that, for what was entered and trimmed
 * meanwhile. What is set aside is read before that: it may be entered meanwhile, too.
 */
export async function findRequest(
  { books, connection, clock }: QuestionSource,
  { requestId, bucket }: RequestToFind,
  signal: AbortSignal,
): Promise<FoundRequest> {
  const minuteMs = minuteOfRequest(requestId);
  if (minuteMs === undefined) return { kind: 'unknown' };
  const known = await searchBooks(books, requestId, minuteMs, signal);
  if (isAll(known, clock.nowMs())) return { kind: 'ended', entries: known };
  const { cursors } = await readIngestion(books);
  const knownBucket = bucket ?? known[0]?.bucket;
  const traces =
    knownBucket === undefined
      ? await findTraces(connection, requestId, signal)
      : { hold: undefined, bucket: knownBucket, asked: [] };
  if (traces.hold !== undefined) return { kind: 'running', hold: decodeHold(traces.hold) };
  const search = {
    requestId,
    buckets: new Set(traces.bucket === undefined ? traces.asked : [traces.bucket]),
    cursors,
    fromMs: Math.max(0, minuteMs - CLOCK_DIFFERENCE_MAX_MS),
    untilMs: untilMsOf(minuteMs),
  };
  const waiting = await searchStreams(connection, search, signal);
  const aside = await searchDoubtful(books, requestId);
  const entered = await searchBooks(books, requestId, minuteMs, signal);
  const entries = await mergeRows(connection, [...aside, ...entered], waiting);
  return entries.length > 0 ? { kind: 'ended', entries } : { kind: 'unknown' };
}

function untilMsOf(minuteMs: number): number {
  return minuteMs + ENTERED_WITHIN_MAX_MS + LATE_WITHIN_MAX_MS + CLOCK_DIFFERENCE_MAX_MS;
}

/** A table costs Postgres milliseconds when a connection asks it first, so most are not asked. */
async function searchBooks(
  books: Books,
  requestId: string,
  minuteMs: number,
  signal: AbortSignal,
): Promise<EntryRow[]> {
  const first = dayOfMs(Math.max(0, minuteMs - CLOCK_DIFFERENCE_MAX_MS));
  const last = dayOfMs(untilMsOf(minuteMs));
  const days = (await listDays(books))
    .filter((day) => day >= first && day <= last)
    .sort((a, b) => a - b);
  const rows: EntryRow[] = [];
  for (const day of days) {
    await yieldTurn(signal);
    const query = books.db.selectFrom(entriesOf(day)).selectAll();
    rows.push(...(await query.where('request', '=', requestId).execute()));
    if (isEndedOn(day, rows)) break;
  }
  return rows.sort(compareRows);
}

/** Rows that do not count yet, since the archive may have them. */
async function searchDoubtful({ db }: Books, requestId: string): Promise<EntryRow[]> {
  const rows = await db
    .selectFrom('doubtful')
    .selectAll()
    .where('request', '=', requestId)
    .orderBy('ms')
    .execute();
  return rows.map(({ since_day: _, ...row }) => row);
}

/**
 * Whether later days have nothing of it. If Redis has lost how it ended, it expires soon after, and
 * that would be on the same day.
 */
function isEndedOn(day: number, rows: readonly EntryRow[]): boolean {
  const endMs = msOfDay(day + 1) - CLOCK_DIFFERENCE_MAX_MS;
  return rows.length > 0 && rows.every(({ kind, ms }) => FINAL_KINDS.has(kind) && ms < endMs);
}

/**
 * Whether nothing can follow. What expired or is an orphan may be settled late, and a refused
 * request has no more than its sample.
 */
function isAll(rows: readonly EntryRow[], nowMs: number): boolean {
  const [first] = rows;
  if (first === undefined) return false;
  if (rows.some(({ kind }) => FINAL_KINDS.has(kind))) return true;
  const lastMs = Math.max(...rows.map(({ ms }) => ms));
  return lastMs + LATE_WITHIN_MAX_MS + CLOCK_DIFFERENCE_MAX_MS < nowMs;
}

interface Traces {
  readonly hold: string | undefined;
  readonly bucket: number | undefined;
  readonly asked: readonly number[];
}

async function findTraces(
  connection: QuestionSource['connection'],
  requestId: string,
  signal: AbortSignal,
): Promise<Traces> {
  let hold: string | undefined;
  let bucketOfTrace: number | undefined;
  const asked: number[] = [];
  const isOver = () => bucketOfTrace !== undefined || signal.aborted;
  const { failure } = await forEachBucket(isOver, async (bucket) => {
    const redisKeys = keysOfBucket(bucket);
    asked.push(bucket);
    // In this order: a request that ends in between has its mark by then.
    const held = await connection.send('hget', [redisKeys.holds, requestId]);
    const mark = await connection.send('hget', [redisKeys.done(requestId), requestId]);
    if (held === null && mark === null) return;
    bucketOfTrace = bucket;
    hold = mark === null ? String(held) : undefined;
  });
  signal.throwIfAborted();
  if (bucketOfTrace === undefined && failure !== undefined) throw failure;
  return { hold, bucket: bucketOfTrace, asked };
}

/** Reads what `quota/scripts/lua/holds.lua` writes. */
function decodeHold(text: string): RunningRequest {
  const [account = '', key = '', month = '', model = '', held = '', seen = ''] = text.split('|');
  return { account, key, month, model, heldMicros: Number(held), seenMicros: Number(seen) };
}
