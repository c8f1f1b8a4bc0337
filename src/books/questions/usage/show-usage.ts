import { creditsOf } from '../../../lib/units/micros.ts';
import { HOUR_MS } from '../../../lib/units/time-units.ts';
import { nameDay } from '../../engine/days.ts';
import { SUM_COLUMNS, type Sums } from '../../engine/tables.ts';
import type { FindName } from '../find-names.ts';
import type { UsageRow } from './read-usage.ts';
import type { UsageGroup } from './usage-query.ts';

/** Names are those of the admin API. */
export type UsageSums = ReturnType<typeof showSums>;

/** The fields that say what a row is about: those of its groups. */
export type UsageNames = {
  readonly [Name in UsageGroup | 'account_name' | 'key_name']?: string | null;
};

export type ShownUsage = UsageNames & UsageSums;

/** Where nothing has a cost, cost and margin are null. */
export function showSums(sums: readonly number[]) {
  const of = (name: keyof Sums) => sums[SUM_COLUMNS.indexOf(name)] ?? 0;
  const hasCost = of('cost') !== 0 || of('charged_with_cost') !== 0;
  return {
    requests: of('requests'),
    failed: of('failed'),
    estimated: of('estimated'),
    charged: creditsOf(of('charged')),
    short: creditsOf(of('short')),
    cost: hasCost ? creditsOf(of('cost')) : null,
    margin: hasCost ? creditsOf(of('charged_with_cost') - of('cost')) : null,
    tokens: {
      input: of('input'),
      cache_read: of('cache_read'),
      cache_write_5m: of('cache_write_5m'),
      cache_write_1h: of('cache_write_1h'),
      output: of('output'),
      thinking: of('thinking'),
    },
    searches: of('searches'),
  };
}

export const NO_SUMS: readonly number[] = SUM_COLUMNS.map(() => 0);

export function chargedOf(sums: readonly number[]): number {
  return sums[SUM_COLUMNS.indexOf('charged')] ?? 0;
}

export function showUsage(
  columns: readonly UsageGroup[],
  row: UsageRow,
  nameOf: FindName,
): ShownUsage {
  return { ...showNames(columns, row, nameOf), ...showSums(row.sums) };
}

function showNames(
  columns: readonly UsageGroup[],
  { names }: UsageRow,
  nameOf: FindName,
): UsageNames {
  const shown: { -readonly [Name in keyof UsageNames]: UsageNames[Name] } = {};
  for (const [i, column] of columns.entries()) {
    const name = names[i] ?? '';
    shown[column] = showName(column, name);
    if (column === 'account' || column === 'key') shown[`${column}_name`] = nameOf(String(name));
  }
  return shown;
}

function showName(column: UsageGroup, name: string | number): string | null {
  if (column === 'day') return nameDay(Number(name));
  if (column === 'hour') return new Date(Number(name) * HOUR_MS).toISOString();
  return String(name) || null;
}

/** The accounts and keys of rows, to find their names. */
export function subjectsOf(columns: readonly UsageGroup[], rows: readonly UsageRow[]) {
  const [account, key] = [columns.indexOf('account'), columns.indexOf('key')];
  if (account === -1) return [];
  return rows.map(({ names }) => ({
    account: String(names[account] ?? ''),
    key: key === -1 ? null : String(names[key] ?? ''),
  }));
}
