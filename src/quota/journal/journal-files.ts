import { mkdir } from 'node:fs/promises';
import type { Log } from '../../lib/log.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { encodeJournalRecord } from './journal-record.ts';
import {
  discardSegment,
  type JournalSegment,
  openJournalSegments,
  readSegment,
} from './journal-segment.ts';
import { createJournalWriter } from './journal-writer.ts';

export interface JournalFiles {
  /** All segments, the oldest first. */
  readonly segments: ReadonlySet<JournalSegment>;
  /** Writes all of these settlements or none. Resolves when they are on the disk. */
  append(settlements: readonly Settlement[]): Promise<void>;
  /** Reads the settlements of a segment. Nothing more is written to that segment. */
  load(segment: JournalSegment): Promise<readonly Settlement[]>;
  /** Does nothing while the segment has settlements left. */
  remove(segment: JournalSegment): Promise<void>;
  close(): Promise<void>;
}

export interface JournalFilesOptions {
  readonly dir: string;
  readonly segmentBytesMax: number;
  readonly bytesMax: number;
  /** Whether the settlements written next are kept in memory too. */
  readonly isLoadingNext: () => boolean;
  /** The settlements are on the disk, and `segment.left` already counts them. */
  readonly onWritten: (settlements: readonly Settlement[], segment: JournalSegment) => void;
  readonly log: Log;
}

interface Append {
  readonly settlements: readonly Settlement[];
  readonly bytes: Buffer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Appends that arrive while others are being written share the next write to the disk. */
export async function openJournalFiles(options: JournalFilesOptions): Promise<JournalFiles> {
  const { dir, segmentBytesMax, bytesMax, isLoadingNext, onWritten, log } = options;
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const earlier = await openJournalSegments(dir, log);
  const segments = new Set(earlier.segments);
  const writer = createJournalWriter({
    dir,
    lastNumber: earlier.lastNumber,
    segmentBytesMax,
    isLoadingNext,
    onSegment: (segment) => segments.add(segment),
  });
  const takeTurn = createTurns();
  let queued: Append[] = [];
  let queuedBytes = 0;
  let isClosed = false;

  const commit = async () => {
    const batch = takeBatch(queued, segmentBytesMax);
    if (batch.length === 0) return;
    queued = queued.slice(batch.length);
    const bytes = Buffer.concat(batch.map((append) => append.bytes));
    try {
      const segment = await writer.write(bytes);
      for (const { settlements, resolve } of batch) {
        segment.left += settlements.length;
        onWritten(settlements, segment);
        resolve();
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    queuedBytes -= bytes.length;
  };

  const checkRoom = (bytes: number) => {
    if (isClosed) throw new Error('the settle journal is closed');
    if (bytes > segmentBytesMax) throw new Error('too much for one write to the settle journal');
    if (sumBytes(segments) + queuedBytes + bytes > bytesMax) {
      throw new Error(`the settle journal is full: ${bytesMax} bytes`);
    }
  };

  return {
    segments,
    async append(settlements) {
      const bytes = Buffer.concat(settlements.map(encodeJournalRecord));
      checkRoom(bytes.length);
      await new Promise<void>((resolve, reject) => {
        queued.push({ settlements, bytes, resolve, reject });
        queuedBytes += bytes.length;
        void takeTurn(commit);
      });
    },
    load: (segment) =>
      takeTurn(async () => {
        await writer.seal(segment);
        const settlements = await readSegment(segment);
        segment.isLoaded = true;
        segment.left = settlements.length;
        return settlements;
      }),
    remove: (segment) =>
      takeTurn(async () => {
        if (segment.left > 0 || !segments.has(segment)) return;
        await writer.seal(segment);
        await discardSegment(dir, segment);
        segments.delete(segment);
      }),
    close() {
      isClosed = true;
      return takeTurn(() => writer.seal());
    },
  };
}

/** Runs the operations on the files one after another. */
function createTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <Result>(work: () => Promise<Result>): Promise<Result> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
}

function takeBatch(queued: readonly Append[], bytesMax: number): readonly Append[] {
  let bytes = 0;
  const end = queued.findIndex((append) => {
    bytes += append.bytes.length;
    return bytes > bytesMax;
  });
  return end === -1 ? queued : queued.slice(0, end);
}

function sumBytes(segments: Iterable<JournalSegment>): number {
  let sum = 0;
  for (const { bytes } of segments) sum += bytes;
  return sum;
}
