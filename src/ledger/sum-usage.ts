import { creditsOf } from '../lib/units/micros.ts';
import { filterLedger, type LedgerFilter } from './filter-ledger.ts';
import { isPaymentKind, type LedgerEntry } from './ledger-entry.ts';
import { createLedgerFindings } from './ledger-findings.ts';
import { LedgerQueryError } from './ledger-query-error.ts';
import type { LedgerPlace } from './read-ledger.ts';
import type { UsageGroup } from './usage-group.ts';

/** Each has some 200 bytes for as long as the ledger is read. */
const ROWS_MAX = 100_000;

export interface UsageQuery extends LedgerFilter {
  readonly by: UsageGroup;
}

interface Sums {
  requests: number;
  estimated: number;
  chargedMicros: number;
  shortMicros: number;
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
  thinking: number;
  searches: number;
}

/** Names are those of the admin API. */
export interface UsageReport {
  readonly by: UsageGroup;
  readonly account: string | null;
  readonly key: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly data: readonly object[];
  readonly total: object;
  /** What was paid in, less what was taken back; null of one key. */
  readonly paid: number | null;
  /** False when a part of the ledger is neither in Redis nor in the segments that are here. */
  readonly is_complete: boolean;
}

/**
 * Sums up usage from the ledger itself, entry by entry. An entry counts on the UTC day on which it
 * was entered. All sums are whole micro-credits, so they equal the ledger exactly.
 */
export async function sumUsage(place: LedgerPlace, query: UsageQuery): Promise<UsageReport> {
  const { by, account, key, fromMs, toMs } = query;
  const findings = createLedgerFindings();
  const rows = new Map<string, Sums>();
  const total = createSums();
  let paidMicros = 0;
  for await (const entry of filterLedger(place, query, findings)) {
    if (isPaymentKind(entry.kind)) {
      paidMicros -= entry.charged_micros;
      continue;
    }
    const name = nameOf(entry, by);
    const row = rows.get(name) ?? createSums();
    rows.set(name, row);
    if (rows.size > ROWS_MAX) throw refuseRows();
    addEntry(row, entry);
    addEntry(total, entry);
  }
  return {
    by,
    account: account ?? null,
    key: key ?? null,
    from: showTime(fromMs),
    to: showTime(toMs),
    data: [...rows]
      .sort(([first], [second]) => (first < second ? -1 : 1))
      .map(([name, sums]) => ({ ...showName(name, by), ...showSums(sums) })),
    total: showSums(total),
    paid: key === undefined ? creditsOf(paidMicros) : null,
    is_complete: findings.damagedLines + findings.gapsFound === 0,
  };
}

function nameOf({ time, model, account, key }: LedgerEntry, by: UsageGroup): string {
  if (by === 'day') return time.slice(0, 'yyyy-mm-dd'.length);
  return by === 'model' ? (model ?? '') : `${account} ${key}`;
}

function showName(name: string, by: UsageGroup): object {
  if (by !== 'key') return { [by]: name };
  const [account = '', key = ''] = name.split(' ');
  return { account, key };
}

function createSums(): Sums {
  return {
    requests: 0,
    estimated: 0,
    chargedMicros: 0,
    shortMicros: 0,
    input: 0,
    cacheRead: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: 0,
    thinking: 0,
    searches: 0,
  };
}

function addEntry(sums: Sums, entry: LedgerEntry): void {
  const { kind, usage } = entry;
  // What is settled late was counted when its lease ran out.
  if (kind !== 'late') sums.requests++;
  sums.chargedMicros += entry.charged_micros;
  sums.shortMicros += entry.short_micros;
  if (usage === null) return;
  if (usage.estimated) sums.estimated++;
  sums.input += usage.input;
  sums.cacheRead += usage.cache_read;
  sums.cacheWrite5m += usage.cache_write_5m;
  sums.cacheWrite1h += usage.cache_write_1h;
  sums.output += usage.output;
  sums.thinking += usage.thinking;
  sums.searches += usage.searches;
}

function showSums(sums: Sums) {
  return {
    requests: sums.requests,
    estimated: sums.estimated,
    charged: creditsOf(sums.chargedMicros),
    short: creditsOf(sums.shortMicros),
    tokens: {
      input: sums.input,
      cache_read: sums.cacheRead,
      cache_write_5m: sums.cacheWrite5m,
      cache_write_1h: sums.cacheWrite1h,
      output: sums.output,
      thinking: sums.thinking,
    },
    searches: sums.searches,
  };
}

function showTime(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

function refuseRows(): LedgerQueryError {
  return new LedgerQueryError(
    'too_many_rows',
    `there are more than ${ROWS_MAX} rows: name an account, or less time`,
  );
}
