import { z } from 'zod';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { isStreamId, STREAM_START, type StreamId } from './stream-id.ts';

export const SEGMENT_VERSION = 1;

const cursorsSchema = z.record(
  z.string().regex(/^\d{1,3}$/),
  z.string().refine(isStreamId, 'is the id of an entry'),
);

const headerSchema = z.object({
  segment: z.literal(SEGMENT_VERSION),
  /** Of the folder, from 1, one by one. */
  sequence: z.int().min(1),
  created: z.string(),
  node: z.string(),
  /** How many lines follow. */
  entries: z.int().min(0),
  /** Of each bucket that was read: the segment has what comes after this … */
  before: cursorsSchema,
  /** … up to this; and of the other buckets, where the last segments that read them ended. */
  after: cursorsSchema,
});

/**
 * The first line of a segment. Only this line has the cursors, so nothing can disagree with the
 * entries.
 */
export type SegmentHeader = z.infer<typeof headerSchema>;

/** How far each bucket has been read; absent: not at all. */
export type Cursors = ReadonlyMap<number, StreamId>;

export function parseSegmentHeader(line: string): SegmentHeader {
  return headerSchema.parse(JSON.parse(line));
}

export function encodeCursors(cursors: Cursors): Record<string, StreamId> {
  const encoded: Record<string, StreamId> = {};
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const id = cursors.get(bucket);
    if (id !== undefined) encoded[bucket] = id;
  }
  return encoded;
}

export function decodeCursors(encoded: Readonly<Record<string, StreamId>>): Map<number, StreamId> {
  return new Map(Object.entries(encoded).map(([bucket, id]) => [Number(bucket), id]));
}

export function cursorOf(cursors: Cursors, bucket: number): StreamId {
  return cursors.get(bucket) ?? STREAM_START;
}
