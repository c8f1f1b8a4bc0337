import fc from 'fast-check';
import { dayOfMs, hourOfMs, nameDay } from '../../../src/books/engine/days.ts';
import type { EntryKind, EntryRow } from '../../../src/books/engine/tables.ts';
import {
  USAGE_FILTERS,
  USAGE_GROUPS,
  type UsageFilter,
  type UsageGroup,
} from '../../../src/books/questions/usage/usage-query.ts';
import { creditsOf } from '../../../src/lib/units/micros.ts';
import { makeEntry } from '../books-scene.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const START_MS = Date.parse('2026-10-30T00:00:00Z');
export const DAYS = 5;

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);

const time = fc.oneof(
  fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }),
  pick(0, HOUR_MS - 1, HOUR_MS, DAY_MS - 1, DAY_MS, 2 * DAY_MS, 3 * DAY_MS + 5 * HOUR_MS),
);

/** Few values of each, so that rows have several entries. A key belongs to one account. */
const entry: fc.Arbitrary<Partial<EntryRow>> = fc
  .record({
    ms: time.map((ms) => START_MS + ms),
    kind: pick<EntryKind>('charge', 'release', 'expired', 'late', 'orphan', 'refused'),
    subject: pick(
      ...([
        ['acct_a', 'key_a1'],
        ['acct_a', 'key_a2'],
        ['acct_b', 'key_b1'],
        ['acct_c', 'key_c1'],
      ] as const),
    ),
    group: pick(null, 'blue', 'red'),
    end_user: pick(null, 'ada', 'bob'),
    model: pick('m-1', 'm-2'),
    upstream: pick(null, 'main', 'spare'),
    outcome: pick(null, 'complete', 'failed', 'refused', 'left'),
    estimated: pick<0 | 1 | null>(null, 0, 1),
    input: fc.nat(1_000),
    output: fc.nat(1_000),
    thinking: fc.nat(9),
    searches: fc.nat(2),
    held: fc.nat(5_000_000),
    charged: fc.nat(5_000_000),
    short: pick(0, 0, 7),
    cost: pick(null, 0, 250_000),
  })
  .map(({ subject: [account, key], ...rest }) => ({ ...rest, account, key }));

/** The same ones each time. */
export function makeEntries(count: number, seed: number): EntryRow[] {
  const samples = fc.sample(entry, { numRuns: count, seed });
  return samples.map((changes, i) => makeEntry({ ...changes, seq: i }));
}

const optional = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 2 }, { arbitrary: value, weight: 1 });
const moment = optional(fc.oneof(time, pick(-DAY_MS, DAYS * DAY_MS)).map((ms) => START_MS + ms));

export const anyQuery = fc.record({
  by: fc.subarray([...USAGE_GROUPS], { minLength: 1, maxLength: 2 }),
  account: optional(pick('acct_a', 'acct_none')),
  key: optional(pick('key_a2', 'key_b1')),
  group: optional(pick('red')),
  end_user: optional(pick('ada')),
  model: optional(pick('m-1', `m-1' or 1=1 --`)),
  upstream: optional(pick('main')),
  fromMs: moment,
  toMs: moment,
});

export interface AnyQuery extends UsageFilter {
  readonly by: readonly UsageGroup[];
}

/** What the answer must be, computed from the entries one by one. */
export function sumNaively(entries: readonly EntryRow[], query: AnyQuery) {
  const { by, fromMs = 0, toMs = Infinity } = query;
  const columns = by.flatMap((group) => (group === 'key' ? ['account', 'key'] : [group]));
  const rows = new Map<string, { names: object; entries: EntryRow[] }>();
  const counted = entries.filter(
    (row) =>
      row.kind !== 'refused' &&
      row.ms >= fromMs &&
      row.ms < toMs &&
      USAGE_FILTERS.every((name) => query[name] === undefined || row[name] === query[name]),
  );
  for (const row of counted) {
    const all = {
      ...row,
      day: nameDay(dayOfMs(row.ms)),
      hour: new Date(hourOfMs(row.ms) * HOUR_MS).toISOString(),
    };
    const names = Object.fromEntries(
      columns.map((column) => [column, all[column as UsageGroup]] as const),
    );
    const name = JSON.stringify(Object.entries(names).sort());
    const known = rows.get(name) ?? { names, entries: [] };
    rows.set(name, known);
    known.entries.push(row);
  }
  return {
    rows: [...rows.values()].map(({ names, entries: ofRow }) => ({ ...names, ...sumUp(ofRow) })),
    total: sumUp(counted),
  };
}

function sumUp(entries: readonly EntryRow[]) {
  const sum = (amountOf: (entry: EntryRow) => number) =>
    entries.reduce((total, row) => total + amountOf(row), 0);
  const count = (isCounted: (entry: EntryRow) => boolean) => entries.filter(isCounted).length;
  const cost = sum((row) => row.cost ?? 0);
  const chargedInAll = (row: EntryRow) => row.charged + (row.kind === 'late' ? row.held : 0);
  const charged = sum((row) => (row.cost === null ? 0 : chargedInAll(row)));
  const hasCost = cost + charged > 0;
  return {
    requests: count(({ kind }) => kind !== 'late'),
    failed: count(({ outcome }) => outcome === 'failed' || outcome === 'refused'),
    estimated: count(({ estimated }) => estimated === 1),
    charged: creditsOf(sum((row) => row.charged)),
    short: creditsOf(sum((row) => row.short)),
    cost: hasCost ? creditsOf(cost) : null,
    margin: hasCost ? creditsOf(charged - cost) : null,
    tokens: {
      input: sum((row) => row.input),
      cache_read: sum((row) => row.cache_read),
      cache_write_5m: sum((row) => row.cache_write_5m),
      cache_write_1h: sum((row) => row.cache_write_1h),
      output: sum((row) => row.output),
      thinking: sum((row) => row.thinking),
    },
    searches: sum((row) => row.searches),
  };
}

/** Rows in an order of their own, without the names that only the mirror knows. */
export function comparable(rows: readonly object[]): unknown[] {
  const texts = rows.map((row) => {
    const { account_name, key_name, ...rest } = row as Record<string, unknown>;
    return JSON.stringify(Object.fromEntries(Object.entries(rest).sort(byName)));
  });
  return texts.sort();
}

function byName([first]: [string, unknown], [second]: [string, unknown]): number {
  return first < second ? -1 : 1;
}
