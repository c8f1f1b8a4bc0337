import { encodeChargeLine } from './encode-charge-line.ts';
import {
  decodeLedgerEntry,
  encodeDamagedLine,
  encodeLedgerLine,
  type StreamFields,
} from './ledger-entry.ts';
import type { LineBlocks } from './line-blocks.ts';
import type { StreamEntry } from './read-stream.ts';
import { type Cursors, cursorOf } from './segment-header.ts';
import type { StreamId } from './stream-id.ts';

/** What the next segment will hold, and the cursors that belong to exactly that. */
export interface SegmentBatch {
  readonly entries: number;
  readonly bytes: number;
  /** All of its lines. */
  chunks(): readonly Buffer[];
  /** Of the buckets that have entries in it. */
  readonly before: Cursors;
  /** Of all buckets. */
  readonly after: Cursors;
  /** The next entries of a bucket; answers how many could not be decoded. */
  add(bucket: number, page: readonly StreamEntry[]): number;
}

/** What `blocks` had is gone. */
export function createSegmentBatch(cursors: Cursors, blocks: LineBlocks): SegmentBatch {
  blocks.clear();
  const before = new Map<number, StreamId>();
  const after = new Map(cursors);
  let entries = 0;
  return {
    get entries() {
      return entries;
    },
    get bytes() {
      return blocks.bytes;
    },
    chunks: blocks.filled,
    before,
    after,
    add(bucket, page) {
      const last = page.at(-1);
      if (last === undefined) return 0;
      let damaged = 0;
      for (const { id, fields } of page) {
        const line = encodeChargeLine(bucket, id, fields) ?? encodeDecodedLine(bucket, id, fields);
        if (line === undefined) damaged++;
        blocks.add(line ?? encodeDamagedLine(bucket, id, fields));
      }
      if (!before.has(bucket)) before.set(bucket, cursorOf(after, bucket));
      after.set(bucket, last.id);
      entries += page.length;
      return damaged;
    },
  };
}

/** Undefined when it is damaged. */
function encodeDecodedLine(bucket: number, id: StreamId, fields: StreamFields): string | undefined {
  try {
    return encodeLedgerLine(decodeLedgerEntry(bucket, id, fields));
  } catch {
    return undefined;
  }
}
