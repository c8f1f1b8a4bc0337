import type { Clock } from '../../lib/time/clock.ts';
import { decodeSettlement, encodeSettlement, type Settlement } from '../settlement/settlement.ts';
import { decodeDelta, deltaBytesMax, encodeDelta } from './delta.ts';

const CHUNK_BYTES = 256 * 1_024;
const HEAD_BYTES = 12;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Holds records one after another. Each has the length of its settlement, the time when it was
 * added (by the given clock), and the difference to the settlement before it in the chunk.
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
  /** All settlements of this moment, the oldest first. Later changes do not affect the reader. */
  read(): SettlementReader;
}

export interface SettlementReader {
  /** How many settlements `take` will still return. */
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
 * The settlements of the last moments. They are kept as bytes: a minute of objects would take
 * hundreds of megabytes, and the garbage collector would walk through them again and again. Old
 * settlements are dropped in whole chunks. Most of a settlement is the same as in the one before,
 * so only differences are kept: 200,000 settlements take 10 to 12 MB instead of 50, and the
 * collector has less to do (`bench/NOTES.md`).
 */
export function createRecentSettlements(options: RecentSettlementsOptions): RecentSettlements {
  const { ageMaxMs, countMax, bytesMax, clock } = options;
  let first = createChunk(0);
  let last = first;
  /** The settlement that the next record is compared with. */
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
  // If nothing is left to read, the reader keeps no chunk: it would keep every later chunk alive
  // too.
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
