import type { UsageReport } from '../../api/api-types.ts';

/** The sums of the admin API for one day, model or key. */
export interface UsageRow {
  readonly name: string;
  readonly requests: number;
  readonly charged: number;
  readonly short: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
}

interface UsageSums {
  readonly requests: number;
  readonly charged: number;
  readonly short: number;
  readonly tokens: {
    readonly input: number;
    readonly cache_read: number;
    readonly cache_write_5m: number;
    readonly cache_write_1h: number;
    readonly output: number;
  };
}

export function readUsageRows({ by, data }: UsageReport): readonly UsageRow[] {
  return data.map((row) => readSums(String(row[by] ?? ''), row));
}

function readSums(name: string, row: object): UsageRow {
  const { requests, charged, short, tokens } = row as UsageSums;
  const cached = tokens.cache_read + tokens.cache_write_5m + tokens.cache_write_1h;
  return {
    ...{ name, requests, charged, short },
    tokensIn: tokens.input + cached,
    tokensOut: tokens.output,
  };
}

/** Returns a row for each day, including days without usage. */
export function fillDays(rows: readonly UsageRow[], days: readonly string[]): readonly UsageRow[] {
  const found = new Map(rows.map((row) => [row.name, row]));
  const nothing = { requests: 0, charged: 0, short: 0, tokensIn: 0, tokensOut: 0 };
  return days.map((name) => found.get(name) ?? { name, ...nothing });
}
