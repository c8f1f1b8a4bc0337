import type { LedgerEntry } from './ledger-entry.ts';

type Usage = NonNullable<LedgerEntry['usage']>;

const ENTRY_COLUMNS = [
  'bucket',
  'id',
  'time',
  'kind',
  'request',
  'account',
  'key',
  'model',
  'month',
  'held_micros',
  'charged_micros',
  'short_micros',
  'balance_micros',
  'note',
] as const satisfies readonly (keyof LedgerEntry)[];

const USAGE_COLUMNS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'thinking',
  'estimated',
  'searches',
] as const satisfies readonly (keyof Usage)[];

/** Like each line without its end. */
export const LEDGER_CSV_HEAD = [...ENTRY_COLUMNS, ...USAGE_COLUMNS].join(',');

export function encodeLedgerCsv(entry: LedgerEntry): string {
  const values = [
    ...ENTRY_COLUMNS.map((column) => entry[column]),
    ...USAGE_COLUMNS.map((column) => entry.usage?.[column] ?? null),
  ];
  return values.map(encodeField).join(',');
}

/** Where a spreadsheet would take a text for a formula, also in its full-width forms. */
const FORMULA_START = /^\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|^[\t\r\n]/;

/**
 * Numbers stay as they are. A text that a spreadsheet would take for a formula gets a quote in
 * front, which makes it text.
 */
function encodeField(value: string | number | boolean | null): string {
  const isFormula = typeof value === 'string' && FORMULA_START.test(value);
  const text = `${isFormula ? "'" : ''}${value ?? ''}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
