import { pack } from 'msgpackr';
import type { FindCost } from '../../catalogue/find-cost.ts';
import type { DamagedRow } from '../engine/tables.ts';
import type { StreamEntry } from '../stream/read-stream.ts';
import { msOfStreamId, numberOfStreamId } from '../stream/stream-id.ts';
import { type DecodedEntry, decodeEntry } from '../writing/decode-entry.ts';

/** An entry of a stream, on its way to the books. */
export interface StreamItem extends StreamEntry {
  readonly bucket: number;
  readonly bytes: number;
  readonly content: DecodedEntry | Damage;
}

interface Damage {
  readonly is: 'damaged';
  readonly reason: unknown;
}

export function decodeItem(bucket: number, entry: StreamEntry, findCost: FindCost): StreamItem {
  const { id, fields } = entry;
  let bytes = 0;
  for (const field of fields) bytes += field.length;
  return { id, fields, bucket, bytes, content: decodeContent(bucket, entry, findCost) };
}

function decodeContent(bucket: number, { id, fields }: StreamEntry, findCost: FindCost) {
  try {
    return decodeEntry(bucket, id, fields, findCost);
  } catch (reason) {
    return { is: 'damaged', reason } as const;
  }
}

/** What cannot be entered is kept as it is. */
export function keepDamaged(
  { bucket, id, fields }: Pick<StreamItem, 'bucket' | 'id' | 'fields'>,
  nowMs: number,
): DamagedRow {
  const seq = Math.min(Number(numberOfStreamId(id)), Number.MAX_SAFE_INTEGER);
  return { bucket, ms: msOfStreamId(id), seq, fields: pack(fields), noted_ms: nowMs };
}
