import type { Coverage } from './coverage.ts';
import { bucketOfLedgerLine, type LedgerEntry, parseLedgerLine } from './ledger-entry.ts';
import { type LedgerFindings, noteDamage, noteGap } from './ledger-findings.ts';
import {
  listSegments,
  readSegmentHeader,
  readSegmentLines,
  type SegmentFile,
} from './segment-files.ts';
import { cursorOf, decodeCursors, type SegmentHeader } from './segment-header.ts';

export interface OpenedSegment {
  readonly path: string;
  readonly header: SegmentHeader;
}

/** Reads every header, in the order of the folders and their sequences. */
export async function openSegments(
  dirs: readonly string[],
  findings: LedgerFindings,
): Promise<OpenedSegment[]> {
  const opened: OpenedSegment[] = [];
  for (const dir of dirs) {
    const segments = await listSegments(dir);
    noteMissingSegments(dir, segments, findings);
    for (const { path } of segments) {
      try {
        opened.push({ path, header: await readSegmentHeader(path) });
      } catch (error) {
        noteDamage(findings, { file: path, line: 1, reason: reasonOf(error) });
      }
    }
  }
  return opened;
}

/** What the segments say they have of some buckets. */
export function claimCoverage(
  segments: readonly OpenedSegment[],
  coverages: ReadonlyMap<number, Coverage>,
): void {
  for (const { path, header } of segments) {
    const dir = path.slice(0, path.lastIndexOf('/'));
    const after = decodeCursors(header.after);
    for (const [bucket, before] of decodeCursors(header.before)) {
      coverages.get(bucket)?.add(dir, { after: before, until: cursorOf(after, bucket) });
    }
  }
}

/**
 * Yields the entries of some buckets. A line whose bucket cannot be read is noted in the pass with
 * bucket 0, so that it is noted once.
 */
export async function* readSegmentEntries(
  { path, header }: OpenedSegment,
  buckets: ReadonlySet<number>,
  findings: LedgerFindings,
): AsyncGenerator<LedgerEntry> {
  let line = 0;
  for await (const text of readSegmentLines(path)) {
    line++;
    if (line === 1 || !buckets.has(bucketOfLedgerLine(text) ?? 0)) continue;
    const entry = parseOrNote(text, { file: path, line }, findings);
    if (entry !== undefined) yield entry;
  }
  if (line - 1 !== header.entries && buckets.has(0)) {
    const reason = `it has ${line - 1} entries, and its header says ${header.entries}`;
    noteDamage(findings, { file: path, line, reason });
  }
}

function parseOrNote(
  text: string,
  place: { readonly file: string; readonly line: number },
  findings: LedgerFindings,
): LedgerEntry | undefined {
  try {
    return parseLedgerLine(text);
  } catch (error) {
    noteDamage(findings, { ...place, reason: reasonOf(error) });
    return undefined;
  }
}

function noteMissingSegments(
  dir: string,
  segments: readonly SegmentFile[],
  findings: LedgerFindings,
): void {
  let expected = 1;
  for (const { sequence } of segments) {
    if (sequence > expected) {
      noteGap(findings, { dir, sequence_from: expected, sequence_to: sequence - 1 });
    }
    expected = sequence + 1;
  }
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
