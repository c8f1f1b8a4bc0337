import { ApiProblem } from '../../api/api-problem.ts';
import { readInTurn } from '../../api/read-in-turn.ts';
import { streamLedger } from './fetch-ledger.ts';
import { CSV_HEAD, encodeCsvLine, parseLedgerLine } from './ledger-line.ts';

export type ExportFormat = 'ndjson' | 'csv';

const TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
/** The browser holds the whole file in memory before it saves the file. */
const FILE_CHARS_MAX = 200_000_000;
const LINES_AT_ONCE = 1_000;
const TIME_MAX_MS = 600_000;

/** Saves an account's whole ledger as a file. A plain link could not carry the token. */
export async function exportLedger(account: string, format: ExportFormat): Promise<void> {
  const signal = AbortSignal.timeout(TIME_MAX_MS);
  const file = await readInTurn(signal, () => readFile(account, format, signal));
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `ledger-${account}.${format}`;
  link.click();
  // When the click returns, the browser has already taken hold of the file.
  URL.revokeObjectURL(link.href);
}

async function readFile(account: string, format: ExportFormat, signal: AbortSignal): Promise<Blob> {
  const parts: string[] = [];
  let lines = format === 'csv' ? [CSV_HEAD] : [];
  let chars = 0;
  const flush = () => {
    const part = lines.map((line) => `${line}\n`).join('');
    chars += part.length;
    if (chars > FILE_CHARS_MAX) throw refuseLength();
    parts.push(part);
    lines = [];
  };
  for await (const line of streamLedger({ account }, signal)) {
    const entry = parseLedgerLine(line);
    if (entry === undefined) throw refuseGaps();
    lines.push(format === 'csv' ? encodeCsvLine(entry) : line);
    if (lines.length === LINES_AT_ONCE) flush();
  }
  flush();
  return new Blob(parts, { type: TYPES[format] });
}

const refuseLength = () =>
  new ApiProblem('the ledger is too long for the browser: take tollgate ledger export', {
    status: 0,
    code: 'too_long',
  });

const refuseGaps = () =>
  new ApiProblem('a part of the ledger is on another node: take tollgate ledger export there', {
    status: 0,
    code: 'incomplete',
  });
