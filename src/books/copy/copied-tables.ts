import { entriesOf } from '../engine/days.ts';
import type { BooksTables } from '../engine/tables.ts';
import type { BulkTable } from '../writing/columns.ts';

/** A table that is copied row by row. */
export interface CopiedTable {
  readonly columns: BulkTable;
  readonly name: keyof BooksTables;
  /** Its primary key, in order. */
  readonly key: readonly string[];
  /** Whether nodes already write to the new table: it has what they refuse. */
  readonly isShared: boolean;
}

const USAGE = ['account', 'key', 'model', 'upstream', 'group'] as const;

const KEYS: { readonly [Table in Exclude<BulkTable, 'entries'>]: readonly string[] } = {
  usage_hours: ['hour', ...USAGE],
  usage_days: ['day', ...USAGE],
  account_days: ['day', 'account'],
  fleet_hours: ['hour', 'model', 'upstream'],
  account_totals: ['account'],
  key_months: ['account', 'key', 'month'],
  payments: ['account', 'payment', 'kind'],
  refusals: ['minute', 'account', 'key', 'model', 'refusal', 'source'],
  audit: ['entry'],
  account_names: ['account'],
  key_names: ['key'],
  words: ['word', 'account'],
  gaps: ['bucket', 'after', 'until'],
  repeats: ['bucket', 'ms', 'seq', 'request'],
  doubtful: ['ms', 'bucket', 'seq', 'request', 'kind', 'account'],
  unchecked: ['day', 'ms', 'bucket', 'seq', 'request'],
  damaged: ['bucket', 'ms', 'seq'],
  facts: ['name'],
};

/**
 * All but `days` and `ingestion`, which say how far the books are, and the sums of closed months:
 * a node makes them again.
 */
export function listCopiedTables(days: readonly number[]): readonly CopiedTable[] {
  const entries = days.map((day) => ({
    ...({ columns: 'entries', name: entriesOf(day), isShared: true } as const),
    key: ['ms', 'bucket', 'seq'],
  }));
  const others = Object.entries(KEYS).map(([name, key]) => {
    const columns = name as keyof typeof KEYS;
    return { columns, name: columns, key, isShared: columns === 'refusals' || columns === 'facts' };
  });
  return [...entries, ...others];
}
