import { type RawBuilder, sql } from 'kysely';
import { DAY_MS, HOUR_MS } from '../../../lib/units/time-units.ts';
import { type AccountSlice, listSliceConditions } from '../../engine/account-slices.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, entriesOf, hourOfMs } from '../../engine/days.ts';
import { monthOfDay } from '../../engine/months.ts';
import { SUM_COLUMNS } from '../../engine/tables.ts';
import { FAILED_OUTCOMES } from '../../writing/add-up.ts';
import type { UsageSegment } from './plan-usage.ts';
import { USAGE_FILTERS, type UsageFilter, type UsageGroup } from './usage-query.ts';

interface Chunk extends UsageSegment {
  readonly columns: readonly UsageGroup[];
  readonly filter: UsageFilter;
  readonly slice: AccountSlice;
  /** More rows than these are refused, so one more is all that is read. */
  readonly rowsMax: number;
}

/** The names of the columns, and under the names of the sums their amounts. */
export type SummedRow = Readonly<Record<string, string | number>>;

type Expression = RawBuilder<unknown>;

/** Sums up one table over a short time: that of entries within one day, that of months over one. */
export async function sumChunk({ db }: Books, chunk: Chunk): Promise<readonly SummedRow[]> {
  const { source, columns, rowsMax } = chunk;
  const table = source === 'entries' ? entriesOf(dayOfMs(chunk.fromMs)) : source;
  const groups = columns.map((column) => groupOf(chunk, column));
  const sums = SUM_COLUMNS.map((name, i) => {
    const amount = source === 'entries' ? AMOUNTS_OF_ENTRIES[name] : sql.ref(name);
    return sql`sum(${amount}) as ${sql.ref(`s${i}`)}`;
  });
  const selected = [
    ...groups.map((group, i) => sql`${group} as ${sql.ref(columns[i] ?? '')}`),
    ...sums,
  ];
  const places = groups.map((_, i) => sql.lit(i + 1));
  const { rows } = await sql<SummedRow>`
    select ${sql.join(selected)} from ${sql.table(table)}
    where ${sql.join(conditionsOf(chunk), sql` and `)}
    group by ${sql.join(places)}
    limit ${rowsMax + 1}`.execute(db);
  return rows;
}

const one = (condition: Expression) => sql`case when ${condition} then 1 else 0 end`;

/** What an entry adds to each sum: the same as in `add-up.ts`. */
const AMOUNTS_OF_ENTRIES: Readonly<Record<(typeof SUM_COLUMNS)[number], Expression>> = {
  entries: sql`1`,
  requests: one(sql`kind <> 'late'`),
  failed: one(sql`outcome in (${sql.join(FAILED_OUTCOMES.map((outcome) => sql.lit(outcome)))})`),
  estimated: one(sql`estimated = 1`),
  charged: sql`charged`,
  short: sql`short`,
  cost: sql`coalesce(cost, 0)`,
  charged_with_cost: sql`case when cost is null then 0 when kind = 'late' then held + charged else charged end`,
  input: sql`input`,
  cache_read: sql`cache_read`,
  cache_write_5m: sql`cache_write_5m`,
  cache_write_1h: sql`cache_write_1h`,
  output: sql`output`,
  thinking: sql`thinking`,
  searches: sql`searches`,
};

const HOURS_OF_DAY = 24;

function groupOf({ source, fromMs }: Chunk, column: UsageGroup): Expression {
  const isOfHours = source === 'usage_hours' || source === 'fleet_hours';
  if (column === 'day') {
    if (source === 'entries') return sql.lit(dayOfMs(fromMs));
    return isOfHours ? sql`hour / ${sql.lit(HOURS_OF_DAY)}` : sql`day`;
  }
  if (column === 'hour') return isOfHours ? sql`hour` : sql`ms / ${sql.lit(HOUR_MS)}`;
  return source === 'entries' ? sql`coalesce(${sql.ref(column)}, '')` : sql.ref(column);
}

function conditionsOf(chunk: Chunk): Expression[] {
  const { source, filter, slice } = chunk;
  const conditions = [timeOf(chunk)];
  if (source === 'entries') conditions.push(sql`kind <> 'refused'`);
  conditions.push(...listSliceConditions(slice));
  for (const name of USAGE_FILTERS) {
    const value = filter[name];
    if (value !== undefined) conditions.push(sql`${sql.ref(name)} = ${value}`);
  }
  return conditions;
}

function timeOf({ source, fromMs, toMs, filter, slice }: Chunk): Expression {
  if (source === 'entries') return sql`ms >= ${fromMs} and ms < ${toMs}`;
  if (source === 'usage_months') return sql`month = ${monthOfDay(dayOfMs(fromMs))}`;
  const isOfDays = source === 'usage_days' || source === 'account_days';
  const name = sql.ref(isOfDays ? 'day' : 'hour');
  const [first, end] = isOfDays
    ? [dayOfMs(fromMs), dayOfMs(toMs + DAY_MS - 1)]
    : [hourOfMs(fromMs), hourOfMs(toMs + HOUR_MS - 1)];
  const isAboutSomeAccounts = [filter.account, slice.after, slice.upTo].some(
    (account) => account !== undefined,
  );
  if (!isAboutSomeAccounts) return sql`${name} >= ${first} and ${name} < ${end}`;
  // The keys of rollups begin with the time: with a list of times, each reads the accounts alone;
  // with a span, everything in it is read.
  const times = Array.from({ length: end - first }, (_, i) => first + i);
  return sql`${name} in (${sql.join(times)})`;
}
