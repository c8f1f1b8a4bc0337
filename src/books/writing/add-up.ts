import { dayOfMs, hourOfMs } from '../engine/days.ts';
import type {
  AccountDayRow,
  AccountTotalRow,
  EntryRow,
  FleetHourRow,
  KeyMonthRow,
  PaymentRow,
  Sums,
  UsageDayRow,
  UsageHourRow,
} from '../engine/tables.ts';

/** What some entries and payments change in the rollups. */
export interface RollupChanges {
  readonly usageHours: readonly UsageHourRow[];
  readonly usageDays: readonly UsageDayRow[];
  readonly accountDays: readonly AccountDayRow[];
  readonly fleetHours: readonly FleetHourRow[];
  readonly accountTotals: readonly AccountTotalRow[];
  readonly keyMonths: readonly KeyMonthRow[];
}

type Mutable<Row> = { -readonly [Name in keyof Row]: Row[Name] };

/**
 * Adds entries up. Those in `removed` are taken off again. A refused request is no entry of the
 * ledger, and counts nowhere.
 */
export function addUp(
  entries: readonly EntryRow[],
  payments: readonly PaymentRow[],
  removed: readonly EntryRow[] = [],
): RollupChanges {
  const usageHours = createRows<UsageHourRow>();
  const usageDays = createRows<UsageDayRow>();
  const accountDays = createRows<AccountDayRow>();
  const fleetHours = createRows<FleetHourRow>();
  const accountTotals = createRows<AccountTotalRow>();
  const keyMonths = createRows<KeyMonthRow>();

  const enter = (entry: EntryRow, sign: 1 | -1) => {
    const { bucket, account, key, model, month } = entry;
    const [hour, day] = [hourOfMs(entry.ms), dayOfMs(entry.ms)];
    const [group, upstream] = [entry.group ?? '', entry.upstream ?? ''];
    const usage = { account, group, key, model, upstream };
    const name = `${account} ${key} ${model} ${upstream} ${group}`;
    const charged = sign * entry.charged;
    addSums(
      usageHours(`${hour} ${name}`, () => ({ hour, ...usage, ...NO_SUMS })),
      entry,
      sign,
    );
    addSums(
      usageDays(`${day} ${name}`, () => ({ day, ...usage, ...NO_SUMS })),
      entry,
      sign,
    );
    addSums(
      accountDays(`${day} ${account}`, () => ({ day, account, ...NO_SUMS })),
      entry,
      sign,
    );
    addSums(
      fleetHours(`${hour} ${model} ${upstream}`, () => ({ hour, model, upstream, ...NO_SUMS })),
      entry,
      sign,
    );
    const total = accountTotals(account, () => createTotal(account, bucket));
    total.entries += sign;
    total.charged += charged;
    keyMonths(`${account} ${key} ${month}`, () => ({
      ...{ account, key, month, bucket, charged: 0 },
    })).charged += charged;
  };

  for (const entry of entries) if (entry.kind !== 'refused') enter(entry, 1);
  for (const entry of removed) if (entry.kind !== 'refused') enter(entry, -1);
  for (const { account, bucket, amount } of payments) {
    accountTotals(account, () => createTotal(account, bucket)).paid += amount;
  }
  return {
    usageHours: usageHours.sorted(),
    usageDays: usageDays.sorted(),
    accountDays: accountDays.sorted(),
    fleetHours: fleetHours.sorted(),
    accountTotals: accountTotals.sorted(),
    keyMonths: keyMonths.sorted(),
  };
}

const NO_SUMS: Sums = {
  entries: 0,
  requests: 0,
  failed: 0,
  estimated: 0,
  charged: 0,
  short: 0,
  cost: 0,
  charged_with_cost: 0,
  input: 0,
  cache_read: 0,
  cache_write_5m: 0,
  cache_write_1h: 0,
  output: 0,
  thinking: 0,
  searches: 0,
};

/** Outcomes that count as failed. */
export const FAILED_OUTCOMES: readonly (string | null)[] = ['failed', 'refused'];

function addSums(sums: Mutable<Sums>, entry: EntryRow, sign: 1 | -1): void {
  sums.entries += sign;
  // What is settled late was counted when its lease ran out.
  if (entry.kind !== 'late') sums.requests += sign;
  if (FAILED_OUTCOMES.includes(entry.outcome)) sums.failed += sign;
  if (entry.estimated === 1) sums.estimated += sign;
  sums.charged += sign * entry.charged;
  sums.short += sign * entry.short;
  if (entry.cost !== null) {
    sums.cost += sign * entry.cost;
    // The usage of a late entry, and so its cost, is the whole one; it charges the rest.
    const before = entry.kind === 'late' ? entry.held : 0;
    sums.charged_with_cost += sign * (before + entry.charged);
  }
  sums.input += sign * entry.input;
  sums.cache_read += sign * entry.cache_read;
  sums.cache_write_5m += sign * entry.cache_write_5m;
  sums.cache_write_1h += sign * entry.cache_write_1h;
  sums.output += sign * entry.output;
  sums.thinking += sign * entry.thinking;
  sums.searches += sign * entry.searches;
}

function createTotal(account: string, bucket: number): Mutable<AccountTotalRow> {
  return { account, bucket, entries: 0, charged: 0, paid: 0 };
}

interface Rows<Row> {
  (name: string, create: () => Row): Mutable<Row>;
  /** In an order that all writers share, so that they do not wait for each other in a circle. */
  sorted(): readonly Row[];
}

function createRows<Row>(): Rows<Row> {
  const rows = new Map<string, Mutable<Row>>();
  const find = (name: string, create: () => Row) => {
    const known = rows.get(name);
    if (known !== undefined) return known;
    const row = create();
    rows.set(name, row);
    return row as Mutable<Row>;
  };
  const sorted = () =>
    [...rows].sort(([first], [second]) => (first < second ? -1 : 1)).map(([, row]) => row as Row);
  return Object.assign(find, { sorted });
}
