import type { EntryRow, RepeatRow } from '../engine/tables.ts';

export function noteRepeat(entry: EntryRow, fate: RepeatRow['fate'], nowMs: number): RepeatRow {
  const { bucket, ms, seq, account, request, kind, charged } = entry;
  return { bucket, ms, seq, account, request, kind, charged, fate, noted_ms: nowMs };
}
