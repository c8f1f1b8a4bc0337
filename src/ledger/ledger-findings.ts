import type { Span } from './coverage.ts';

/** Of each kind; what is more is counted, not kept. */
const FINDINGS_MAX = 1_000;

export interface DamagedLine {
  /** Or the Redis key of a stream. */
  readonly file: string;
  /** From 1; in a stream the id of the entry. */
  readonly line: number | string;
  readonly reason: string;
}

/** Something that ought to be there and is not. */
export type LedgerGap =
  | { readonly dir: string; readonly sequence_from: number; readonly sequence_to: number }
  | { readonly bucket: number; readonly after: string; readonly until: string };

/** What was noticed while the ledger was read. */
export interface LedgerFindings {
  /** The same entry, read again. */
  duplicates: number;
  /** The same request and kind under an id that a failover has taken back: counted once. */
  repeated: number;
  damagedLines: number;
  gapsFound: number;
  readonly damaged: DamagedLine[];
  readonly gaps: LedgerGap[];
}

export function createLedgerFindings(): LedgerFindings {
  return { duplicates: 0, repeated: 0, damagedLines: 0, gapsFound: 0, damaged: [], gaps: [] };
}

export function noteDamage(findings: LedgerFindings, damage: DamagedLine): void {
  findings.damagedLines++;
  if (findings.damaged.length < FINDINGS_MAX) findings.damaged.push(damage);
}

export function noteGap(findings: LedgerFindings, gap: LedgerGap): void {
  findings.gapsFound++;
  if (findings.gaps.length < FINDINGS_MAX) findings.gaps.push(gap);
}

export function noteBucketGaps(
  findings: LedgerFindings,
  bucket: number,
  gaps: readonly Span[],
): void {
  for (const gap of gaps) noteGap(findings, { bucket, ...gap });
}
