import { type CsvValue, encodeCsvLine } from '../encode-csv-line.ts';
import { listUsed, USED_COLUMNS } from '../usage/list-usage-values.ts';
import { MISSING_NOTE } from './missing-note.ts';
import type { Statement } from './statement.ts';

interface Line {
  readonly line: 'opening' | 'payment' | 'model' | 'key' | 'closing' | 'incomplete';
  readonly time?: string;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  readonly kind?: string;
  readonly note?: string | null;
  readonly amount?: number;
  readonly balance?: number;
}

/** `line` says what a line is about. Columns that have nothing to do with it are empty. */
const LINE_COLUMNS = ['line', 'time', 'id', 'name', 'kind', 'note', 'amount', 'balance'] as const;
const NOTHING_USED: readonly CsvValue[] = USED_COLUMNS.map(() => null);

/** A statement as CSV, line by line: for its owner, so without what requests cost the operator. */
export function* encodeStatement(statement: Statement): Generator<string> {
  yield `${encodeCsvLine([...LINE_COLUMNS, ...USED_COLUMNS])}\n`;
  yield encodeLine({ line: 'opening', balance: statement.opening_balance });
  for (const payment of statement.payments) yield encodeLine({ line: 'payment', ...payment });
  for (const usage of statement.by_model) {
    yield encodeLine({ line: 'model', id: usage.model }, listUsed(usage));
  }
  for (const usage of statement.by_key) {
    yield encodeLine({ line: 'key', id: usage.key, name: usage.key_name }, listUsed(usage));
  }
  yield encodeLine(
    { line: 'closing', balance: statement.closing_balance },
    listUsed(statement.total),
  );
  if (statement.incomplete !== null) yield encodeLine({ line: 'incomplete', note: MISSING_NOTE });
}

function encodeLine(line: Line, sums: readonly CsvValue[] = NOTHING_USED): string {
  const values = LINE_COLUMNS.map((column) => line[column] ?? null);
  return `${encodeCsvLine([...values, ...sums])}\n`;
}
