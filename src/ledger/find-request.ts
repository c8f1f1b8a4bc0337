import { minuteOfRequest } from '../lib/request-id.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import { readStreamSpan, type StreamSpan } from './audit-bucket.ts';
import { forEachBucket } from './for-each-bucket.ts';
import { chooseDropped, eventOf } from './held-entries.ts';
import { decodeLedgerEntry, isPaymentKind, type LedgerEntry } from './ledger-entry.ts';
import { LedgerQueryError } from './ledger-query-error.ts';
import type { LedgerPlace } from './read-ledger.ts';
import { readStreamPage, STREAM_PAGE_MAX } from './read-stream.ts';
import { type LedgerSearch, searchSegments } from './search-segments.ts';
import { compareStreamIds, laterStreamId } from './stream-id.ts';

const SEARCH_TIME_MAX_MS = 20_000;
/** Between the clocks of the machines, and of one master and the next. */
const CLOCK_DIFFERENCE_MAX_MS = 600_000;
/** The longest exchange, what settles it afterwards, and what is late then. */
const ENTERED_WITHIN_MAX_MS = 27 * 3_600_000;
/** A request that is charged by the sweeper may be settled in the end, as long as it is known. */
export const LATE_WITHIN_MAX_MS = 3 * 3_600_000;

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
  | { readonly kind: 'ended'; readonly entries: readonly LedgerEntry[] }
  | { readonly kind: 'unknown' };

interface FindOptions {
  /** Where it is known: then only ended requests are looked for, and only there. */
  readonly bucket?: number;
  readonly timeMaxMs?: number;
}

/**
 * Looks a request up by its id alone. The id tells its minute. Its hold or the mark of its end
 * tells its bucket, while they are kept. The streams are read before the segments: entries that are
 * trimmed meanwhile are in a segment by then.
 */
export async function findRequest(
  place: LedgerPlace,
  requestId: string,
  { bucket, timeMaxMs = SEARCH_TIME_MAX_MS }: FindOptions = {},
): Promise<FoundRequest> {
  const minuteMs = minuteOfRequest(requestId);
  if (minuteMs === undefined) return { kind: 'unknown' };
  const traces =
    bucket === undefined
      ? await findTraces(place, requestId)
      : { hold: undefined, bucket, asked: [] };
  if (traces.hold !== undefined) return { kind: 'running', hold: decodeHold(traces.hold) };
  const search: LedgerSearch = {
    requestId,
    buckets: new Set(traces.bucket === undefined ? traces.asked : [traces.bucket]),
    fromMs: Math.max(0, minuteMs - CLOCK_DIFFERENCE_MAX_MS),
    untilMs: minuteMs + ENTERED_WITHIN_MAX_MS + CLOCK_DIFFERENCE_MAX_MS,
    untilAfter: ({ id, kind }) =>
      Number.parseInt(id, 10) +
      (kind === 'expired' ? LATE_WITHIN_MAX_MS : 0) +
      CLOCK_DIFFERENCE_MAX_MS,
    signal: AbortSignal.timeout(timeMaxMs),
  };
  const { entries, spans } = await searchStreams(place, search);
  const exported: LedgerEntry[] = [];
  for (const dir of place.dirs) exported.push(...(await searchSegments(dir, search)));
  const all = mergeEntries(entries, exported, spans);
  if (all.length > 0) return { kind: 'ended', entries: all };
  if (!search.signal.aborted) return { kind: 'unknown' };
  throw new LedgerQueryError(
    'search_unfinished',
    'the request is not in the part of the ledger that could be searched in time',
  );
}

interface Traces {
  readonly hold: string | undefined;
  readonly bucket: number | undefined;
  readonly asked: readonly number[];
}

async function findTraces({ connection }: LedgerPlace, requestId: string): Promise<Traces> {
  let hold: string | undefined;
  let bucketOfTrace: number | undefined;
  const asked: number[] = [];
  const isOver = () => bucketOfTrace !== undefined;
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
  if (bucketOfTrace === undefined && failure !== undefined) throw failure;
  return { hold, bucket: bucketOfTrace, asked };
}

async function searchStreams({ connection }: LedgerPlace, search: LedgerSearch) {
  const { requestId, buckets, fromMs, untilMs, signal } = search;
  const idBytes = Buffer.from(requestId);
  const entries: LedgerEntry[] = [];
  const spans = new Map<number, StreamSpan>();
  const { failure } = await forEachBucket(
    () => signal.aborted,
    async (bucket) => {
      if (!buckets.has(bucket)) return;
      const span = await readStreamSpan(connection, bucket);
      spans.set(bucket, span);
      let after = laterStreamId(span.floor, `${fromMs}-0`);
      for (let isAtEnd = false; !isAtEnd && !signal.aborted; ) {
        const page = await readStreamPage(connection, bucket, { after, until: String(untilMs) });
        for (const { id, fields } of page) {
          if (!fields.some((field) => field.includes(idBytes))) continue;
          const entry = decodeLedgerEntry(bucket, id, fields);
          if (entry.request === requestId) entries.push(entry);
        }
        after = page.at(-1)?.id ?? after;
        isAtEnd = page.length < STREAM_PAGE_MAX;
      }
    },
  );
  if (failure !== undefined) throw failure;
  return { entries, spans };
}

/**
 * Each entry once, without payments. An exported entry that is missing in Redis although Redis
 * should have it was lost in a failover.
 */
function mergeEntries(
  kept: readonly LedgerEntry[],
  exported: readonly LedgerEntry[],
  spans: ReadonlyMap<number, StreamSpan>,
): LedgerEntry[] {
  const byPlace = new Map<string, LedgerEntry>();
  for (const entry of [...exported, ...kept]) {
    if (!isPaymentKind(entry.kind)) byPlace.set(`${entry.bucket} ${entry.id}`, entry);
  }
  const isKept = new Set(kept.map(({ id }) => id));
  const isTakenBack = ({ bucket, id }: LedgerEntry) => {
    const span = spans.get(bucket);
    if (span === undefined || isKept.has(id)) return false;
    return compareStreamIds(span.floor, id) < 0 && compareStreamIds(id, span.last) <= 0;
  };
  const all = [...byPlace.values()];
  const takenBack = all.filter(isTakenBack);
  const regular = new Set(all.filter((entry) => !isTakenBack(entry)).map(eventOf));
  const dropped = new Set(chooseDropped(takenBack, regular));
  return all
    .filter((entry) => !dropped.has(entry))
    .sort((first, second) => compareStreamIds(first.id, second.id));
}

/** As `quota/scripts/lua/holds.lua` writes it. */
function decodeHold(text: string): RunningRequest {
  const [account = '', key = '', month = '', model = '', held = '', seen = ''] = text.split('|');
  return { account, key, month, model, heldMicros: Number(held), seenMicros: Number(seen) };
}
