import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { readStreamSpan } from './audit-bucket.ts';
import type { ExportPace } from './export-pace.ts';
import { forEachBucket } from './for-each-bucket.ts';
import { gatherBuckets, type ReadPage } from './gather-buckets.ts';
import { createLineBlocks } from './line-blocks.ts';
import { readStreamPage, STREAM_PAGE_MAX } from './read-stream.ts';
import { createSegmentBatch, type SegmentBatch } from './segment-batch.ts';
import {
  listSegments,
  prepareSegmentDir,
  readSegmentHeader,
  writeSegment,
} from './segment-files.ts';
import {
  type Cursors,
  cursorOf,
  decodeCursors,
  encodeCursors,
  SEGMENT_VERSION,
} from './segment-header.ts';
import {
  earlierStreamId,
  laterStreamId,
  rewindStreamId,
  STREAM_START,
  type StreamId,
} from './stream-id.ts';

/** The clock of a new master may be behind that of the old one: new ids then lie below old ones. */
const REREAD_MS = 120_000;
export interface Gathering {
  /** Every bucket that answered has been read to its end. */
  readonly isCaughtUp: boolean;
  /** Of buckets that did not answer; what the others had is in the batch. */
  readonly failure: unknown;
}

/** Takes the ledger out of Redis, from one segment to the next. */
export interface LedgerReader {
  /** Reads on, as long as the batch is not full. */
  gather(): Promise<Gathering>;
  isSegmentDue(nowMs: number): boolean;
  write(): Promise<void>;
  /** Removes from Redis what is durable and old, when it is time to. */
  trim(): Promise<void>;
}

export interface LedgerReaderOptions {
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  readonly dir: string;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace: ExportPace;
  /** Ends what is going on early, between two calls of Redis. */
  readonly signal: AbortSignal;
}

/** Goes on after the newest segment, and reads the last minutes before it once more. */
export async function createLedgerReader(options: LedgerReaderOptions): Promise<LedgerReader> {
  const { connection, dir, nodeId, clock, log, pace, signal } = options;
  await prepareSegmentDir(dir);
  const newest = await findNewestSegment(dir, log);
  let sequence = newest.sequence + 1;
  // Never ahead of the segments, even if they are read once more: trimming goes by these cursors.
  let durable: Cursors = await findStart(connection, newest.cursors);
  const blocks = createLineBlocks();
  let batch = createSegmentBatch(durable, blocks);
  let gatheringSinceMs = 0;
  let trimmedMs = 0;
  let nextBucket = 0;

  const isFull = () =>
    batch.entries >= pace.segmentEntriesMax || batch.bytes >= pace.segmentBytesMax;

  const readPage = async (bucket: number, until: StreamId): Promise<ReadPage> => {
    const after = cursorOf(batch.after, bucket);
    const page = await readStreamPage(connection, bucket, { after, until });
    if (batch.entries === 0) gatheringSinceMs = clock.nowMs();
    const damaged = batch.add(bucket, page);
    if (damaged > 0) log.error({ bucket, damaged }, 'entries of the ledger cannot be decoded');
    return { entries: page.length, isLast: page.length < STREAM_PAGE_MAX };
  };

  return {
    async gather() {
      const until = String(Math.max(0, clock.nowMs() - pace.entryAgeMs));
      const isOver = () => isFull() || signal.aborted;
      const { next, isComplete, failure } = await gatherBuckets(
        { from: nextBucket, restMaxMs: pace.roundMs, isOver },
        (bucket) => readPage(bucket, until),
      );
      nextBucket = next;
      return { isCaughtUp: isComplete && !isFull(), failure };
    },

    isSegmentDue: (nowMs) =>
      isFull() || (batch.entries > 0 && Math.abs(nowMs - gatheringSinceMs) >= pace.gatherMs),

    async write() {
      const created = new Date(clock.nowMs()).toISOString();
      await writeSegment(
        dir,
        encodeHeader(batch, { sequence, created, node: nodeId }),
        batch.chunks(),
      );
      sequence++;
      durable = batch.after;
      batch = createSegmentBatch(durable, blocks);
    },

    async trim() {
      const nowMs = clock.nowMs();
      if (Math.abs(nowMs - trimmedMs) < pace.gatherMs) return;
      trimmedMs = nowMs;
      const keepFrom = `${Math.max(0, nowMs - pace.keepMs)}-0`;
      const { failure } = await forEachBucket(
        () => signal.aborted,
        (bucket) =>
          trimStream(connection, bucket, earlierStreamId(keepFrom, cursorOf(durable, bucket))),
      );
      if (failure !== undefined) throw failure;
    },
  };
}

function encodeHeader(
  { entries, before, after }: SegmentBatch,
  names: { readonly sequence: number; readonly created: string; readonly node: string },
) {
  const cursors = { before: encodeCursors(before), after: encodeCursors(after) };
  return { segment: SEGMENT_VERSION, ...names, entries, ...cursors } as const;
}

/** The newest one that can be read; a damaged one keeps its number. */
async function findNewestSegment(dir: string, log: Log) {
  const segments = await listSegments(dir);
  const sequence = segments.at(-1)?.sequence ?? 0;
  for (const { path } of segments.reverse()) {
    try {
      const header = await readSegmentHeader(path);
      return { sequence, cursors: decodeCursors(header.after) };
    } catch (error) {
      log.error({ path, err: error }, 'a segment of the ledger cannot be read');
    }
  }
  return { sequence, cursors: new Map<number, StreamId>() };
}

/**
 * Begins no earlier than the entries that Redis still has: a segment must not claim entries that
 * another node has trimmed.
 */
async function findStart(
  connection: Pick<RedisConnection, 'send'>,
  cursors: Cursors,
): Promise<Map<number, StreamId>> {
  const start = new Map<number, StreamId>();
  const { failure } = await forEachBucket(
    () => false,
    async (bucket) => {
      const { floor } = await readStreamSpan(connection, bucket);
      const id = laterStreamId(rewindStreamId(cursorOf(cursors, bucket), REREAD_MS), floor);
      if (id !== STREAM_START) start.set(bucket, id);
    },
  );
  if (failure !== undefined) throw failure;
  return start;
}

/** Exactly, not by whole nodes. The entry at a cursor itself may stay. */
async function trimStream(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  from: StreamId,
): Promise<void> {
  if (from === STREAM_START) return;
  await connection.send('xtrim', [keysOfBucket(bucket).ledger, 'MINID', from]);
}
