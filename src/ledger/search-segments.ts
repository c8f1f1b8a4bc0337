import { type LedgerEntry, parseLedgerLine } from './ledger-entry.ts';
import { listSegments, readSegmentHeader, readSegmentLines } from './segment-files.ts';
import { cursorOf, decodeCursors, type SegmentHeader } from './segment-header.ts';
import { msOfStreamId } from './stream-id.ts';

/** What was entered longer before its export than this is not looked for. */
const EXPORT_LATE_MAX_MS = 86_400_000;

export interface LedgerSearch {
  readonly requestId: string;
  readonly buckets: ReadonlySet<number>;
  /** Between these two it was entered. */
  readonly fromMs: number;
  readonly untilMs: number;
  /** Where the search goes on to when it has found an entry. */
  untilAfter(entry: LedgerEntry): number;
  /** Aborted when it has taken too long. */
  readonly signal: AbortSignal;
}

/** The entries of a request in the segments of one folder. */
export async function searchSegments(dir: string, search: LedgerSearch): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = [];
  let { untilMs } = search;
  const segments = await listSegments(dir);
  const first = await findFirst(segments, search.fromMs);
  for (const { path } of segments.slice(first)) {
    if (search.signal.aborted) return found;
    const header = await readHeader(path);
    if (header === undefined) continue;
    if (Date.parse(header.created) > untilMs + EXPORT_LATE_MAX_MS) break;
    if (!mayHave(header, { ...search, untilMs })) continue;
    for (const entry of await searchLines(path, search)) {
      found.push(entry);
      untilMs = Math.min(untilMs, search.untilAfter(entry));
    }
  }
  return found;
}

/**
 * Finds the first segment that was made after a time, by binary search. An unreadable segment
 * counts as made after it.
 */
async function findFirst(segments: readonly { path: string }[], fromMs: number): Promise<number> {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const header = await readHeader(segments[middle]?.path ?? '');
    if (header !== undefined && Date.parse(header.created) < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function mayHave(
  header: SegmentHeader,
  { buckets, fromMs, untilMs }: Pick<LedgerSearch, 'buckets' | 'fromMs' | 'untilMs'>,
): boolean {
  const after = decodeCursors(header.after);
  for (const [bucket, before] of decodeCursors(header.before)) {
    if (!buckets.has(bucket) || msOfStreamId(before) > untilMs) continue;
    if (msOfStreamId(cursorOf(after, bucket)) >= fromMs) return true;
  }
  return false;
}

async function searchLines(path: string, { requestId, signal }: LedgerSearch) {
  const found: LedgerEntry[] = [];
  for await (const line of readSegmentLines(path)) {
    if (signal.aborted) return found;
    if (!line.includes(requestId)) continue;
    const entry = parseOrSkip(line);
    if (entry?.request === requestId) found.push(entry);
  }
  return found;
}

/** Damage is what `tollgate ledger verify` tells of. */
function parseOrSkip(line: string): LedgerEntry | undefined {
  try {
    return parseLedgerLine(line);
  } catch {
    return undefined;
  }
}

function readHeader(path: string): Promise<SegmentHeader | undefined> {
  return readSegmentHeader(path).catch(() => undefined);
}
