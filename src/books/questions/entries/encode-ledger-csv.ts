import { encodeCsvLine } from '../encode-csv-line.ts';
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

const MORE_COLUMNS = [
  'group',
  'end_user',
  'upstream',
  'status',
  'outcome',
  'refusal',
  'streamed',
  'cost_micros',
  'started_at',
  'first_event_ms',
  'total_ms',
] as const satisfies readonly (keyof LedgerEntry)[];

/** Like each line, without its line end. */
export const LEDGER_CSV_HEAD = [...ENTRY_COLUMNS, ...USAGE_COLUMNS, ...MORE_COLUMNS].join(',');

export function encodeLedgerCsv(entry: LedgerEntry): string {
  const values = [
    ...ENTRY_COLUMNS.map((column) => entry[column]),
    ...USAGE_COLUMNS.map((column) => entry.usage?.[column] ?? null),
    ...MORE_COLUMNS.map((column) => entry[column]),
  ];
  return encodeCsvLine(values);
}
