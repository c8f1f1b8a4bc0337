import { z } from 'zod';
import { isStreamId } from '../stream/stream-id.ts';

const cursorsSchema = z.record(
  z.string().regex(/^\d{1,3}$/),
  z.string().refine(isStreamId, 'is the id of an entry'),
);

const headerSchema = z.object({
  segment: z.literal(1),
  /** Counts the segments of the folder one by one, from 1. */
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

/** The first line of a segment. */
export type SegmentHeader = z.infer<typeof headerSchema>;

export function parseSegmentHeader(line: string): SegmentHeader {
  return headerSchema.parse(JSON.parse(line));
}
