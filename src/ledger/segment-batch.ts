import { decodeLedgerEntry, encodeDamagedLine, encodeLedgerLine } from './ledger-entry.ts';
import type { StreamEntry } from './read-stream.ts';
import { type Cursors, cursorOf } from './segment-header.ts';
import type { StreamId } from './stream-id.ts';

/** What the next segment will hold, and the cursors that belong to exactly that. */
export interface SegmentBatch {
  readonly entries: number;
  readonly bytes: number;
  readonly chunks: readonly string[];
  /** Of the buckets that have entries in it. */
  readonly before: Cursors;
  /** Of all buckets. */
  readonly after: Cursors;
  /** The next entries of a bucket; answers how many could not be decoded. */
  add(bucket: number, page: readonly StreamEntry[]): number;
}

export function createSegmentBatch(cursors: Cursors): SegmentBatch {
  const before = new Map<number, StreamId>();
  const after = new Map(cursors);
  const chunks: string[] = [];
  let entries = 0;
  let bytes = 0;
  return {
    get entries() {
      return entries;
    },
    get bytes() {
      return bytes;
    },
    chunks,
    before,
    after,
    add(bucket, page) {
      const last = page.at(-1);
      if (last === undefined) return 0;
      let damaged = 0;
      let text = '';
      for (const entry of page) {
        const line = encodeLine(bucket, entry);
        if (line.isDamaged) damaged++;
        text += `${line.text}\n`;
      }
      if (!before.has(bucket)) before.set(bucket, cursorOf(after, bucket));
      after.set(bucket, last.id);
      chunks.push(text);
      entries += page.length;
      bytes += Buffer.byteLength(text);
      return damaged;
    },
  };
}

function encodeLine(bucket: number, { id, fields }: StreamEntry) {
  try {
    return { text: encodeLedgerLine(decodeLedgerEntry(bucket, id, fields)), isDamaged: false };
  } catch {
    return { text: encodeDamagedLine(bucket, id, fields), isDamaged: true };
  }
}
