import { resolve } from 'node:path';
import type { FindCost } from '../../catalogue/find-cost.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { Books } from '../engine/books.ts';
import { decodeItem, type StreamItem } from '../ingest/stream-item.ts';
import type { Coverage } from './coverage.ts';
import { enterItems } from './enter-items.ts';
import { readImportProgress } from './import-progress.ts';
import { moveCursors } from './move-cursors.ts';
import {
  type OpenedSegment,
  openSegments,
  readLines,
  reasonOf,
  type SegmentDamage,
} from './open-segments.ts';
import { parseSegmentLine } from './parse-segment-line.ts';
import { settleRepeats } from './settle-repeats.ts';

/** Lines in one transaction, during which nobody else writes to a file of libsql. */
const LINES_AT_ONCE = 2_000;

interface ImportProgress {
  readonly lines: number;
  readonly linesTotal: number;
}

export interface ImportOptions {
  /** A writer. */
  readonly books: Books;
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  /** Folders of segments, one for each node. */
  readonly dirs: readonly string[];
  readonly clock: Clock;
  readonly findCost: FindCost;
  /** Ends the import between two batches; the next one continues after them. */
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportProgress) => void;
}

/** Names are those of the command's JSON. */
export interface ImportReport {
  readonly files: number;
  /** Without those that were in the books before. */
  readonly lines: number;
  readonly entries: number;
  readonly payments: number;
  readonly damaged: readonly SegmentDamage[];
  /** What neither the segments nor Redis nor the books have. */
  readonly gaps: number;
}

/**
 * Takes the segments of earlier versions into the books. It may be interrupted and repeated, and
 * nodes may run meanwhile: what is in the books already does not count twice.
 *
 *   headers ──▶ lines, the newest segment first ──▶ events that came twice ──▶ cursors and gaps
 */
export async function importSegments(options: ImportOptions): Promise<ImportReport> {
  const { books, connection, clock, findCost, signal, onProgress } = options;
  const dirs = [...new Set(options.dirs.map((dir) => resolve(dir)))];
  const { segments, coverages, damaged: unreadable } = await openSegments(dirs);
  const damaged = [...unreadable];
  const linesTotal = segments.reduce((sum, { entries }) => sum + entries, 0);
  const known = await readImportProgress(books);
  const sums = { lines: 0, entries: 0, payments: 0 };
  let lines = 0;

  for (const segment of newestFirst(segments)) {
    const before = known.get(segment.path);
    const doneLines = before?.isWhole === true ? segment.entries : (before?.line ?? 1) - 1;
    lines += doneLines;
    onProgress({ lines, linesTotal });
    if (before?.isWhole === true) continue;
    const fromLine = before?.line ?? 1;
    for await (const batch of readBatches(segment, fromLine, findCost)) {
      signal.throwIfAborted();
      const { line, isWhole, items } = batch;
      const entered = await enterItems(books, {
        ...{ path: segment.path, items, progress: { line, isWhole }, nowMs: clock.nowMs() },
        isShared: ({ bucket, id }) => isClaimedTwice(coverages, bucket, id),
      });
      damaged.push(...batch.damaged);
      sums.lines += batch.lines;
      sums.entries += entered.entries;
      sums.payments += entered.payments;
      lines += batch.lines;
      onProgress({ lines, linesTotal });
    }
  }
  signal.throwIfAborted();
  const nowMs = clock.nowMs();
  await settleRepeats({ books, connection, segments, coverages, findCost, nowMs });
  const gaps = await moveCursors({ books, connection, coverages, nowMs });
  return { files: segments.length, ...sums, damaged, gaps };
}

/** Where an id was given twice, the later one is entered first, and stays. */
function newestFirst(segments: readonly OpenedSegment[]): readonly OpenedSegment[] {
  return segments.toSorted((one, other) => (one.created < other.created ? 1 : -1));
}

function isClaimedTwice(coverages: readonly Coverage[], bucket: number, id: string): boolean {
  return (coverages[bucket]?.countAt(id) ?? 0) > 1;
}

interface Batch {
  readonly lines: number;
  /** The number of the last one. */
  readonly line: number;
  readonly isWhole: boolean;
  /** Each place once. */
  readonly items: readonly StreamItem[];
  readonly damaged: readonly SegmentDamage[];
}

/** The last batch of a file is whole, even if it has no lines. */
async function* readBatches(
  segment: OpenedSegment,
  fromLine: number,
  findCost: FindCost,
): AsyncGenerator<Batch> {
  const { path, entries } = segment;
  let items = new Map<string, StreamItem>();
  let damaged: SegmentDamage[] = [];
  let [line, batchStart] = [fromLine, fromLine];
  const take = (isWhole: boolean): Batch => {
    const batch = { lines: line - batchStart, line, isWhole, items: [...items.values()], damaged };
    items = new Map();
    damaged = [];
    batchStart = line;
    return batch;
  };
  for await (const { number, text } of readLines(segment)) {
    if (number <= fromLine) continue;
    line = number;
    try {
      const entry = parseSegmentLine(text);
      items.set(`${entry.bucket} ${entry.id}`, decodeItem(entry.bucket, entry, findCost));
    } catch (error) {
      damaged.push({ file: path, line, reason: reasonOf(error) });
    }
    if (line - batchStart >= LINES_AT_ONCE) yield take(false);
  }
  if (line - 1 !== entries) {
    const reason = `it has ${line - 1} entries, and its header says ${entries}`;
    damaged.push({ file: path, line, reason });
  }
  yield take(true);
}
