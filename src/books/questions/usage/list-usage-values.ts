import type { CsvValue } from '../encode-csv-line.ts';
import type { ShownUsage, UsageNames, UsageSums } from './show-usage.ts';
import type { UsageGroup } from './usage-query.ts';

const AMOUNTS = ['requests', 'failed', 'estimated', 'charged', 'short'] as const;
const TOKENS = [
  ...(['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output', 'thinking'] as const),
] as const;
/** For the operator alone. */
const COSTS = ['cost', 'margin'] as const;

export const USED_COLUMNS: readonly string[] = [...AMOUNTS, ...TOKENS, 'searches'];

export function headUsageCsv(columns: readonly UsageGroup[]): readonly string[] {
  return [...columns.flatMap(listFields), ...USED_COLUMNS, ...COSTS];
}

/** In the order of the head. */
export function listUsageValues(
  columns: readonly UsageGroup[],
  row: ShownUsage,
): readonly CsvValue[] {
  return [
    ...columns.flatMap(listFields).map((field) => row[field] ?? null),
    ...listUsed(row),
    ...COSTS.map((name) => row[name]),
  ];
}

/** In the order of `USED_COLUMNS`. */
export function listUsed({ tokens, ...sums }: UsageSums): readonly CsvValue[] {
  return [
    ...AMOUNTS.map((name) => sums[name]),
    ...TOKENS.map((name) => tokens[name]),
    sums.searches,
  ];
}

/** Accounts and keys have a name beside their id. */
function listFields(column: UsageGroup): (keyof UsageNames)[] {
  return column === 'account' || column === 'key' ? [column, `${column}_name`] : [column];
}
