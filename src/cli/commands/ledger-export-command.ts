import { encodeLedgerCsv, LEDGER_CSV_HEAD } from '../../ledger/encode-ledger-csv.ts';
import { encodeLedgerLine } from '../../ledger/ledger-entry.ts';
import { createLedgerFindings, type LedgerFindings } from '../../ledger/ledger-findings.ts';
import { planPasses, readLedger } from '../../ledger/read-ledger.ts';
import { withLedger } from '../open-ledger.ts';

/** How many lines are printed at once. */
const LINES_AT_ONCE = 500;

interface LedgerExportOptions {
  readonly configPath: string | undefined;
  /** The data folders of all nodes that have exported. If empty, the folder in the settings. */
  readonly dataDirs: readonly string[];
  /** Undefined exports all accounts. */
  readonly account: string | undefined;
  readonly format: 'ndjson' | 'csv';
  /**
   * Prints whole lines and ends the last one. The export waits for a returned promise, so that it
   * is no faster than its reader.
   */
  readonly out: (text: string) => void | Promise<void>;
  readonly err: (text: string) => void;
  readonly progress: (text: string) => void;
}

/**
 * Prints every entry of the segments and of Redis once, in no order. Returns 1 if something is
 * missing.
 */
export async function runLedgerExportCommand(options: LedgerExportOptions): Promise<number> {
  const { account, format, out, err } = options;
  const encode = format === 'csv' ? encodeLedgerCsv : encodeLedgerLine;
  return await withLedger(options, async (place, onEntry) => {
    const findings = createLedgerFindings();
    let lines: string[] = format === 'csv' ? [LEDGER_CSV_HEAD] : [];
    for (const buckets of await planPasses(place)) {
      for await (const entry of readLedger({ ...place, buckets, findings })) {
        onEntry();
        if (account !== undefined && entry.account !== account) continue;
        lines.push(encode(entry));
        if (lines.length < LINES_AT_ONCE) continue;
        await out(lines.join('\n'));
        lines = [];
      }
    }
    if (lines.length > 0) await out(lines.join('\n'));
    return warnOfLosses(findings, err);
  });
}

function warnOfLosses({ damagedLines, gapsFound }: LedgerFindings, err: (text: string) => void) {
  if (damagedLines + gapsFound === 0) return 0;
  err(
    `tollgate: the ledger is not complete: ${damagedLines} damaged lines, ${gapsFound} gaps; tollgate ledger verify names them`,
  );
  return 1;
}
