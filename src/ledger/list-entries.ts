import { filterLedger, type LedgerFilter } from './filter-ledger.ts';
import { encodeLedgerLine } from './ledger-entry.ts';
import { createLedgerFindings } from './ledger-findings.ts';
import type { LedgerPlace } from './read-ledger.ts';

const LINES_AT_ONCE = 500;

/**
 * Yields entries as lines of JSON, some at a time, in no order. If a part of the ledger is missing,
 * the last line says so: `{"incomplete":…}`.
 */
export async function* listEntries(
  place: LedgerPlace,
  filter: LedgerFilter,
): AsyncGenerator<string> {
  const findings = createLedgerFindings();
  let lines: string[] = [];
  for await (const entry of filterLedger(place, filter, findings)) {
    lines.push(`${encodeLedgerLine(entry)}\n`);
    if (lines.length < LINES_AT_ONCE) continue;
    yield lines.join('');
    lines = [];
  }
  const { damagedLines, gapsFound } = findings;
  if (damagedLines + gapsFound > 0) {
    const incomplete = { damaged_lines: damagedLines, gaps: gapsFound };
    lines.push(`${JSON.stringify({ incomplete })}\n`);
  }
  yield lines.join('');
}
