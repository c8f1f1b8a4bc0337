import type { FindCost } from '../../catalogue/find-cost.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books } from '../engine/books.ts';
import type { EntryRow, RepeatRow } from '../engine/tables.ts';
import { decodeItem } from '../ingest/stream-item.ts';
import { isLost } from '../stream/is-lost.ts';
import { compareStreamIds } from '../stream/stream-id.ts';
import { enterRows } from '../writing/enter-rows.ts';
import { eventOf } from '../writing/find-rivals.ts';
import { insertRepeats } from '../writing/insert-repeats.ts';
import { openDaysOf } from '../writing/known-days.ts';
import type { Coverage } from './coverage.ts';
import { daysNear } from './enter-items.ts';
import { type OpenedSegment, readLines } from './open-segments.ts';
import { bucketOfLine, parseSegmentLine } from './parse-segment-line.ts';

interface SettleOptions {
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly segments: readonly OpenedSegment[];
  /** What the segments cover, for each bucket. */
  readonly coverages: readonly Coverage[];
  readonly findCost: FindCost;
  readonly nowMs: number;
}

/** An entry that the segments have, and how many of them have it. */
interface Candidate {
  readonly entry: EntryRow;
  seen: number;
}

/**
 * Decides which entry of an event counts where there are several. If a segment had to pass an
 * entry but lacks it, a failover has lost it; the same goes for Redis. Such entries do not count,
 * unless there is no other. Reads the segments again, but only after such a failover.
 */
export async function settleRepeats(options: SettleOptions): Promise<void> {
  const { books } = options;
  const seconds = await books.db
    .selectFrom('repeats')
    .selectAll()
    .where('fate', '=', 'second')
    .execute();
  if (seconds.length === 0) return;
  const candidates = await findCandidates(options, seconds);
  for (const ofEvent of candidates.values()) await settleEvent(options, ofEvent);
}

async function findCandidates(
  { segments, findCost }: SettleOptions,
  seconds: readonly RepeatRow[],
): Promise<ReadonlyMap<string, readonly Candidate[]>> {
  const events = new Set(seconds.map(eventOf));
  const requests = [...new Set(seconds.map(({ request }) => request))];
  const buckets = new Set(seconds.map(({ bucket }) => bucket));
  const found = new Map<string, Map<string, Candidate>>();
  for (const segment of segments) {
    for await (const { text } of readLines(segment)) {
      if (!buckets.has(bucketOfLine(text) ?? -1)) continue;
      if (!requests.some((request) => text.includes(request))) continue;
      const entry = parseEntry(text, findCost);
      if (entry === undefined || !events.has(eventOf(entry))) continue;
      const ofEvent = found.get(eventOf(entry)) ?? new Map<string, Candidate>();
      found.set(eventOf(entry), ofEvent);
      const known = ofEvent.get(idOf(entry));
      if (known === undefined) ofEvent.set(idOf(entry), { entry, seen: 1 });
      else known.seen++;
    }
  }
  return new Map([...found].map(([event, ofEvent]) => [event, [...ofEvent.values()]]));
}

async function settleEvent(
  { books, connection, coverages, nowMs }: SettleOptions,
  candidates: readonly Candidate[],
): Promise<void> {
  const newestFirst = candidates.toSorted((one, other) =>
    compareStreamIds(idOf(other.entry), idOf(one.entry)),
  );
  const regular: EntryRow[] = [];
  const lost: EntryRow[] = [];
  for (const { entry, seen } of newestFirst) {
    const claimed = coverages[entry.bucket]?.countAt(idOf(entry)) ?? 0;
    const isIrregular = seen < claimed || (await isLost(connection, entry));
    (isIrregular ? lost : regular).push(entry);
  }
  const counted = regular[0] ?? lost.shift();
  if (counted === undefined || lost.length === 0) return;
  const isDropped = new Set(lost.map(idOf));
  const days = daysNear([counted, ...lost], await openDaysOf(books, { entries: [counted] }));
  await books.db.transaction().execute(async (tx) => {
    // Deleted first: they are noted again if they are in the way of the one that counts.
    for (const { bucket, ms, seq, request } of [counted, ...lost]) {
      await tx
        .deleteFrom('repeats')
        .where('bucket', '=', bucket)
        .where('ms', '=', ms)
        .where('seq', '=', seq)
        .where('request', '=', request)
        .execute();
    }
    await enterRows(
      books.engine,
      tx,
      { entries: [counted], payments: [] },
      { isLost: async (stored) => isDropped.has(idOf(stored)), days, nowMs },
    );
    const replaced = lost.map((entry) => noteReplaced(entry, nowMs));
    await insertRepeats(tx, replaced);
  });
}

function parseEntry(line: string, findCost: FindCost): EntryRow | undefined {
  try {
    const parsed = parseSegmentLine(line);
    const { content } = decodeItem(parsed.bucket, parsed, findCost);
    return content.is === 'entry' ? content.row : undefined;
  } catch {
    return undefined;
  }
}

function idOf({ ms, seq }: Pick<EntryRow, 'ms' | 'seq'>): string {
  return `${ms}-${seq}`;
}

function noteReplaced(entry: EntryRow, nowMs: number): RepeatRow {
  const { bucket, ms, seq, account, request, kind, charged } = entry;
  return { bucket, ms, seq, account, request, kind, charged, fate: 'replaced', noted_ms: nowMs };
}
