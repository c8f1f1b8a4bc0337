import { BUCKETS } from '../../keys/bucket-tags.ts';
import { STREAM_START } from '../stream/stream-id.ts';
import { type Coverage, createCoverage } from './coverage.ts';
import { listSegments, readSegmentHeader, readSegmentLines } from './segment-files.ts';

export interface OpenedSegment {
  readonly path: string;
  /** ISO. */
  readonly created: string;
  /** How many lines it ought to have behind its header. */
  readonly entries: number;
}

/** What ought to be in a segment and is not. */
export interface SegmentDamage {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

interface OpenedSegments {
  /** In the order of the folders and their sequences. */
  readonly segments: readonly OpenedSegment[];
  /** What they claim to have, of each bucket. */
  readonly coverages: readonly Coverage[];
  /** Files whose header cannot be read. */
  readonly damaged: readonly SegmentDamage[];
}

/** Reads every header. */
export async function openSegments(dirs: readonly string[]): Promise<OpenedSegments> {
  const segments: OpenedSegment[] = [];
  const coverages = Array.from({ length: BUCKETS }, () => createCoverage());
  const damaged: SegmentDamage[] = [];
  for (const dir of dirs) {
    for (const { path } of await listSegments(dir)) {
      try {
        const { created, entries, before, after } = await readSegmentHeader(path);
        segments.push({ path, created, entries });
        for (const [bucket, first] of Object.entries(before)) {
          const until = after[bucket] ?? STREAM_START;
          coverages[Number(bucket)]?.add({ source: dir, after: first, until });
        }
      } catch (error) {
        damaged.push({ file: path, line: 1, reason: reasonOf(error) });
      }
    }
  }
  return { segments, coverages, damaged };
}

/** The lines of a segment behind its header, with their numbers in the file. */
export async function* readLines({ path }: OpenedSegment) {
  let number = 0;
  for await (const text of readSegmentLines(path)) {
    number++;
    if (number > 1) yield { number, text };
  }
}

export function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ');
}
