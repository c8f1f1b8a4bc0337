import type { FindCost } from '../../catalogue/find-cost.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books } from '../engine/books.ts';
import type { GapRow } from '../engine/tables.ts';
import { createAgedPlaces } from '../stream/aged-places.ts';
import { readStreamSpan } from '../stream/audit-bucket.ts';
import { forEachBucket } from '../stream/for-each-bucket.ts';
import { gatherBuckets, type ReadPage } from '../stream/gather-buckets.ts';
import { isLost, type StoredEntry } from '../stream/is-lost.ts';
import { REREAD_MS } from '../stream/late-entries.ts';
import { readStreamEntry, readStreamPage, STREAM_PAGE_MAX } from '../stream/read-stream.ts';
import { readStreamEnds, type StreamEnds } from '../stream/read-stream-ends.ts';
import {
  compareStreamIds,
  earlierStreamId,
  laterStreamId,
  NUMBER_MAX,
  rewindStreamId,
  STREAM_START,
  type StreamId,
} from '../stream/stream-id.ts';
import { type Cursors, cursorOf } from '../writing/cursors.ts';
import { type IngestionState, readIngestion, StaleBatchError } from '../writing/write-batch.ts';
import { inRedis, markDatabaseErrors } from './database-error.ts';
import type { IngestPace } from './ingest-pace.ts';
import { decodeItem, type StreamItem } from './stream-item.ts';
import { type WrittenState, writeItems } from './write-items.ts';

interface ReadResult {
  /** Every bucket that answered has been read to its end. */
  readonly isComplete: boolean;
  /** The failure of buckets that did not answer; what the others had is in the books. */
  readonly failure: unknown;
}

/** Takes the entries of all streams into the books, from one batch to the next. */
export interface StreamReader {
  /** Notes where the streams end. What they have then is read once it is old enough. */
  look(): Promise<void>;
  /** Reads further, one batch at most, and writes it. */
  readBatch(untilMs: number, restMaxMs: number): Promise<ReadResult>;
  /**
   * Removes from Redis what is in the books and older than this moment. Throws `StaleBatchError` if
   * the books are not those that were written last.
   */
  trim(keepFromMs: number): Promise<void>;
}

export interface StreamReaderOptions {
  readonly connection: Pick<RedisConnection, 'client' | 'isCluster' | 'send'>;
  readonly books: Books;
  readonly clock: Clock;
  readonly log: Log;
  readonly findCost: FindCost;
  readonly pace: IngestPace;
  /** Ends the current work early, between two calls of Redis. */
  readonly signal: AbortSignal;
}

/**
 * Continues where the books end, and reads the last minutes before that once more; the books drop
 * what they already have. If Redis does not have the last entry of the books, it has lost some,
 * and others may stand anywhere below: then everything that it has is read. After a failed write,
 * create a new reader.
 */
export function createStreamReader(
  { version, cursors }: IngestionState,
  options: StreamReaderOptions,
): StreamReader {
  const { connection, books, clock, log, pace, signal } = options;
  const state: WrittenState = { version, cursors: new Map(cursors) };
  const gathering = createPageGatherer(state.cursors, options);
  const readable = createAgedPlaces(pace.entryAgeMs);
  const trimmable = createAgedPlaces(pace.keepMs);
  /** How far each bucket was read, and is in the books. */
  let written: Cursors = new Map();
  let nextBucket = 0;

  const write = async () => {
    const gaps = gathering.gaps();
    const batches = splitItems(gathering.items(), pace);
    if (gaps.length > 0 && batches.length === 0) batches.push([]);
    for (const [i, batch] of batches.entries()) {
      const context = {
        nowMs: clock.nowMs(),
        isLost: (place: StoredEntry) => inRedis(isLost(connection, place)),
      };
      await writeItems({ books, state, context, log }, batch, i === 0 ? gaps : []);
    }
    logGaps(log, gaps);
    written = gathering.empty();
  };

  return {
    async look() {
      const { ends, failure } = await readStreamEnds(connection);
      readable.note(ends);
      trimmable.note(ends);
      if (failure !== undefined) throw failure;
    },

    async readBatch(untilMs, restMaxMs) {
      // The last one in that millisecond.
      const until = `${Math.max(0, untilMs)}-${NUMBER_MAX}`;
      // In a Cluster this would take as many calls as reading does.
      const known = connection.isCluster ? undefined : await readStreamEnds(connection);
      gathering.noteEnds(known?.failure === undefined ? known?.ends : undefined);
      const { next, isComplete, failure } = await gatherBuckets(
        { from: nextBucket, restMaxMs, isOver: () => gathering.isFull() || signal.aborted },
        (bucket) => gathering.readPage(bucket, laterOf(until, readable.of(bucket))),
      );
      nextBucket = next;
      await write();
      return { isComplete, failure };
    },

    async trim(keepFromMs) {
      await expectVersion(books, state.version);
      const keepFrom = `${Math.max(0, keepFromMs)}-0`;
      const { failure } = await forEachBucket(
        () => signal.aborted,
        async (bucket) => {
          const loss = gathering.lossOf(bucket);
          if (loss === 'new') return;
          const aged = laterOf(keepFrom, trimmable.of(bucket));
          const until = earlierStreamId(aged, cursorOf(written, bucket));
          // After a loss it may take long until something comes after the cursor.
          const cursor = loss === 'none' ? cursorOf(state.cursors, bucket) : undefined;
          await trimStream(connection, bucket, { until, cursor });
        },
      );
      if (failure !== undefined) throw failure;
    },
  };
}

/** A standby that has taken over may lack batches, and nothing else may have noticed. */
async function expectVersion(books: Books, expected: number): Promise<void> {
  const { version } = await markDatabaseErrors(readIngestion(books));
  if (version !== expected) throw new StaleBatchError('the books have another version');
}

/** Collects pages of all streams until they are in the books. */
interface PageGatherer {
  /** Buckets that have nothing behind what was read are not asked for a page. */
  noteEnds(ends: StreamEnds | undefined): void;
  readPage(bucket: number, until: StreamId): Promise<ReadPage>;
  isFull(): boolean;
  items(): readonly StreamItem[];
  gaps(): readonly GapRow[];
  /** Call this when all of it is in the books. Returns how far each bucket was read. */
  empty(): Cursors;
  /** Whether Redis was found to have lost entries of a bucket, and whether that was long ago. */
  lossOf(bucket: number): 'none' | 'new' | 'old';
}

function createPageGatherer(
  cursors: Cursors,
  { connection, clock, findCost, pace }: StreamReaderOptions,
): PageGatherer {
  const read = new Map<number, StreamId>();
  /** When Redis was found to have lost entries, by bucket. */
  const lossesMs = new Map<number, number>();
  let knownEnds: StreamEnds | undefined;
  let items: StreamItem[] = [];
  let bytes = 0;
  let gaps: GapRow[] = [];

  const start = async (bucket: number): Promise<StreamId> => {
    const cursor = cursorOf(cursors, bucket);
    const { floor } = await readStreamSpan(connection, bucket);
    if (compareStreamIds(floor, cursor) > 0) {
      gaps.push({ bucket, after: cursor, until: floor, noted_ms: clock.nowMs() });
    }
    const isSame =
      cursor !== STREAM_START && (await readStreamEntry(connection, bucket, cursor)) !== undefined;
    if (!isSame && compareStreamIds(floor, cursor) < 0) lossesMs.set(bucket, performance.now());
    const place = isSame ? laterStreamId(rewindStreamId(cursor, REREAD_MS), floor) : floor;
    read.set(bucket, place);
    return place;
  };
  const isReadToEnd = (bucket: number, after: StreamId): boolean =>
    knownEnds !== undefined && compareStreamIds(knownEnds.get(bucket) ?? STREAM_START, after) <= 0;

  return {
    noteEnds(ends) {
      knownEnds = ends;
    },
    async readPage(bucket, until) {
      const after = read.get(bucket) ?? (await start(bucket));
      if (isReadToEnd(bucket, after)) return { entries: 0, isLast: true };
      const page = await readStreamPage(connection, bucket, { after, until });
      for (const entry of page) {
        const item = decodeItem(bucket, entry, findCost);
        items.push(item);
        bytes += item.bytes;
      }
      read.set(bucket, page.at(-1)?.id ?? after);
      return { entries: page.length, isLast: page.length < STREAM_PAGE_MAX };
    },
    isFull: () => items.length >= pace.batchEntriesMax || bytes >= pace.batchBytesMax,
    items: () => items,
    gaps: () => gaps,
    empty() {
      items = [];
      bytes = 0;
      gaps = [];
      return new Map(read);
    },
    lossOf(bucket) {
      const foundMs = lossesMs.get(bucket);
      if (foundMs === undefined) return 'none';
      return performance.now() - foundMs < pace.keepMs ? 'new' : 'old';
    },
  };
}

/** Pages that were read at once may exceed a batch together. */
function splitItems(
  items: readonly StreamItem[],
  { batchEntriesMax, batchBytesMax }: IngestPace,
): StreamItem[][] {
  const batches: StreamItem[][] = [];
  let batch: StreamItem[] = [];
  let bytes = 0;
  for (const item of items) {
    const isFull = batch.length >= batchEntriesMax || bytes + item.bytes > batchBytesMax;
    if (batch.length > 0 && isFull) {
      batches.push(batch);
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += item.bytes;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}

function logGaps(log: Log, gaps: readonly GapRow[]): void {
  const [first] = gaps;
  if (first === undefined) return;
  const { bucket, after, until } = first;
  log.error(
    { bucket, after, until, buckets: gaps.length },
    'the books lack entries: Redis had trimmed them before they were read',
  );
}

function laterOf(id: StreamId, other: StreamId | undefined): StreamId {
  return other === undefined ? id : laterStreamId(id, other);
}

/**
 * Trims exactly, not in whole nodes of the stream. The entry at the cursor stays: if it is gone,
 * Redis has lost entries that the books have. Then nothing is trimmed: an entry that replaces a
 * lost one looks like a second charge, unless the stream shows that the other one was lost and
 * not trimmed.
 */
async function trimStream(
  connection: Pick<RedisConnection, 'client' | 'send'>,
  bucket: number,
  { until, cursor }: { readonly until: StreamId; readonly cursor: StreamId | undefined },
): Promise<void> {
  if (until === STREAM_START) return;
  const isLost =
    cursor !== undefined && (await readStreamEntry(connection, bucket, cursor)) === undefined;
  if (isLost) return;
  await connection.send('xtrim', [keysOfBucket(bucket).ledger, 'MINID', until]);
}
