import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import type { GapRow } from '../engine/tables.ts';
import { readStreamSpan, type StreamSpan } from '../stream/audit-bucket.ts';
import { forEachBucket } from '../stream/for-each-bucket.ts';
import {
  compareStreamIds,
  earlierStreamId,
  laterStreamId,
  STREAM_START,
  type StreamId,
} from '../stream/stream-id.ts';
import { cursorOf, decodeCursors, encodeCursors } from '../writing/cursors.ts';
import { type Coverage, createCoverage, type SourceStretch, type Stretch } from './coverage.ts';

interface MoveOptions {
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'send'>;
  /** What the segments cover, for each bucket. */
  readonly coverages: readonly Coverage[];
  readonly nowMs: number;
}

/**
 * Lets ingestion continue where the segments end, and notes what neither they nor Redis nor the
 * books have. Returns how many gaps are left.
 */
export async function moveCursors(options: MoveOptions): Promise<number> {
  const { books, connection, coverages, nowMs } = options;
  const spans = new Map<number, StreamSpan>();
  const { failure } = await forEachBucket(
    () => false,
    async (bucket) => {
      spans.set(bucket, await readStreamSpan(connection, bucket));
    },
  );
  if (failure !== undefined) throw failure;
  // Read after the streams: what was trimmed since is in the books by these cursors.
  return await books.db.transaction().execute(async (tx) => {
    const { version, cursors: text } = await lockIngestion(tx);
    const cursors = decodeCursors(text);
    const before = await tx.selectFrom('gaps').selectAll().execute();
    const after: GapRow[] = [];
    for (const [bucket, span] of spans) {
      const moved = moveCursor({
        ofSegments: coverages[bucket]?.spans() ?? [],
        cursor: cursorOf(cursors, bucket),
        gaps: before.filter((gap) => gap.bucket === bucket),
        span,
      });
      if (moved.cursor !== STREAM_START) cursors.set(bucket, moved.cursor);
      after.push(...moved.gaps.map((gap) => ({ bucket, ...gap, noted_ms: nowMs })));
    }
    await tx
      .updateTable('ingestion')
      .set({ version: version + 1, cursors: encodeCursors(cursors) })
      .execute();
    await replaceGaps(tx, before, after);
    return after.length;
  });
}

interface BucketPlaces {
  readonly ofSegments: readonly SourceStretch[];
  /** The cursor of the books; `gaps` are what they lack before it. */
  readonly cursor: StreamId;
  readonly gaps: readonly Stretch[];
  readonly span: StreamSpan;
}

/** The gaps of a bucket, and the cursor up to which there is nothing else to read. */
export function moveCursor({ ofSegments, cursor, gaps, span }: BucketPlaces): {
  readonly cursor: StreamId;
  readonly gaps: readonly Stretch[];
} {
  const ofBooks = listOwnSpans(cursor, gaps);
  const known = createCoverage([...ofSegments, ...ofBooks]);
  const all = createCoverage([...ofSegments, ...ofBooks]);
  all.add({ source: 'redis', after: span.floor, until: span.last });
  const left = all.findGaps(laterStreamId(span.last, cursor));
  for (const gap of left) known.add({ source: 'nobody', ...gap });
  const [first] = known.findGaps(span.last);
  const reached = first?.after ?? span.last;
  return { cursor: laterStreamId(cursor, earlierStreamId(reached, span.last)), gaps: left };
}

/** What the books have: all up to their cursor but the gaps. */
function listOwnSpans(cursor: StreamId, gaps: readonly Stretch[]): SourceStretch[] {
  const spans: Stretch[] = [];
  let after = STREAM_START;
  for (const gap of gaps.toSorted((one, other) => compareStreamIds(one.after, other.after))) {
    spans.push({ after, until: gap.after });
    after = laterStreamId(after, gap.until);
  }
  spans.push({ after, until: cursor });
  return spans.map((span) => ({ source: 'books', ...span }));
}

/** From here on no batch of another node is written. */
async function lockIngestion(tx: BooksTransaction) {
  await tx
    .updateTable('ingestion')
    .set(({ ref }) => ({ version: ref('version') }))
    .execute();
  return await tx.selectFrom('ingestion').selectAll().executeTakeFirstOrThrow();
}

async function replaceGaps(
  tx: BooksTransaction,
  before: readonly GapRow[],
  after: readonly GapRow[],
): Promise<void> {
  const nameOf = ({ bucket, after, until }: GapRow) => `${bucket} ${after} ${until}`;
  const isLeft = new Set(after.map(nameOf));
  const isKnown = new Set(before.map(nameOf));
  for (const gap of before.filter((row) => !isLeft.has(nameOf(row)))) {
    await tx
      .deleteFrom('gaps')
      .where('bucket', '=', gap.bucket)
      .where('after', '=', gap.after)
      .where('until', '=', gap.until)
      .execute();
  }
  const added = after.filter((row) => !isKnown.has(nameOf(row)));
  if (added.length > 0) await tx.insertInto('gaps').values(added).execute();
}
