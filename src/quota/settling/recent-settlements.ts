import type { Clock } from '../../lib/time/clock.ts';
import { decodeSettlement, encodeSettlement, type Settlement } from '../settlement/settlement.ts';
import { decodeDelta, deltaBytesMax, encodeDelta } from './delta.ts';

const CHUNK_BYTES = 256 * 1_024;
const HEAD_BYTES = 12;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Records one after the other: length of the settlement, when it came by the clock that is given, and what it has that the one before
 * it in the chunk has not.
 */
interface Chunk {
  readonly bytes: Buffer;
  endOffset: number;
  count: number;
  lastMs: number;
  next: Chunk | undefined;
}

export interface RecentSettlements {
  add(settlement: Settlement): void;
  /** What there is now, the oldest first; what is added or forgotten later changes nothing in it. */
  read(): SettlementReader;
}

export interface SettlementReader {
  /** How many `take` will still answer. */
  readonly left: number;
  take(): Settlement | undefined;
}

interface RecentSettlementsOptions {
  readonly ageMaxMs: number;
  readonly countMax: number;
  readonly bytesMax: number;
  readonly clock: Clock;
}

/**
 * Settlements of the last moments. They are kept as bytes: a minute of objects would be hundreds of megabytes, and the
 * garbage collector would walk through them again and again. What is too old goes by whole chunks. Most of a settlement
 * is as in the one before: 200,000 of them take 10 to 12 MB instead of 50, and the collector has less to do
 * (`bench/NOTES.md`).
 */
export function createRecentSettlements(options: RecentSettlementsOptions): RecentSettlements {
  const { ageMaxMs, countMax, bytesMax, clock } = options;
  let first = createChunk(0);
  let last = first;
  /** What the next record is compared with. */
  let newest = NO_BYTES;
  let count = 0;
  let bytes = 0;

  const forgetFirst = () => {
    count -= first.count;
    bytes -= first.bytes.length;
    if (first.next === undefined) last = createChunk(0);
    first = first.next ?? last;
  };

  const forgetOld = () => {
    const sinceMs = clock.nowMs() - ageMaxMs;
    while (
      count > 0 &&
      (first.lastMs < sinceMs || count - first.count >= countMax || bytes > bytesMax)
    ) {
      forgetFirst();
    }
  };

  const makeRoom = (length: number) => {
    if (last.endOffset + length <= last.bytes.length) return;
    const chunk = createChunk(Math.max(CHUNK_BYTES, length));
    bytes += chunk.bytes.length;
    last.next = chunk;
    last = chunk;
    newest = NO_BYTES;
    if (first.count === 0) first = chunk;
  };

  return {
    add(settlement) {
      const packed = encodeSettlement(settlement);
      makeRoom(HEAD_BYTES + deltaBytesMax(packed.length));
      last.lastMs = clock.nowMs();
      last.bytes.writeUInt32LE(packed.length, last.endOffset);
      last.bytes.writeDoubleLE(last.lastMs, last.endOffset + 4);
      last.endOffset = encodeDelta(packed, newest, last.bytes, last.endOffset + HEAD_BYTES);
      newest = packed;
      last.count++;
      count++;
      forgetOld();
    },
    read() {
      forgetOld();
      const reader = createReader(first, count);
      const sinceMs = clock.nowMs() - ageMaxMs;
      while (reader.left > countMax || reader.nextMs() < sinceMs) reader.skip();
      return reader;
    },
  };
}

function createChunk(length: number): Chunk {
  const bytes = Buffer.allocUnsafeSlow(length);
  return { bytes, endOffset: 0, count: 0, lastMs: 0, next: undefined };
}

function createReader(first: Chunk, count: number) {
  // With nothing left to read none is kept: every later chunk would stay with it.
  let chunk = count > 0 ? first : createChunk(0);
  let offset = 0;
  let newest = NO_BYTES;
  let left = count;

  const readNext = (): Buffer => {
    const bytes = Buffer.allocUnsafe(chunk.bytes.readUInt32LE(offset));
    offset = decodeDelta(chunk.bytes, offset + HEAD_BYTES, newest, bytes);
    newest = bytes;
    left--;
    if (left > 0 && offset < chunk.endOffset) return bytes;
    chunk = (left > 0 ? chunk.next : undefined) ?? createChunk(0);
    offset = 0;
    newest = NO_BYTES;
    return bytes;
  };

  return {
    get left() {
      return left;
    },
    /** Infinity at the end. */
    nextMs: () => (left === 0 ? Number.POSITIVE_INFINITY : chunk.bytes.readDoubleLE(offset + 4)),
    skip: () => void readNext(),
    take: () => (left === 0 ? undefined : decodeSettlement(readNext())),
  };
}
