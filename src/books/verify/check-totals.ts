import { type RawBuilder, sql } from 'kysely';
import { type AccountSlice, findSlice, listSliceConditions } from '../engine/account-slices.ts';
import type { Books } from '../engine/books.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import { DRIFTS_SHOWN_MAX } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';
import { listRollupDays } from './list-rollup-days.ts';

/** Accounts whose sums are in memory at once. The days are read once for each slice. */
const ACCOUNTS_MAX = 100_000;
/** Days of one statement. */
const DAYS_MAX = 8;

/** How much the sums of an account are too high. */
interface Excess {
  readonly account: string;
  readonly entries: number;
  readonly charged: number;
  readonly paid: number;
  /** What its keys were charged by their months. */
  readonly monthly: number;
}

type Db = Pick<Books['db'], 'getExecutor'>;
type Condition = RawBuilder<unknown>;
type ListDrifts = (excess: Excess) => SumDrift[];

interface CheckTotalsOptions {
  readonly books: Books;
  /** Ends the work between two statements. */
  readonly signal: AbortSignal;
  readonly accountsMax?: number;
  readonly daysMax?: number;
}

/**
 * Compares what accounts have charged and paid since the first entry with its days and months. No
 * statement may take longer than the client waits for its answer, and no snapshot may last for
 * minutes. So days are read some at a time, in the order in which they are stored, and the newest
 * of them together with the totals: entries hardly ever reach older ones. Where one did meanwhile,
 * the account differs, and is read again by itself.
 */
export async function checkTotals(options: CheckTotalsOptions): Promise<SumDrift[]> {
  const { books, accountsMax = ACCOUNTS_MAX } = options;
  const days = await listRollupDays(books);
  const ofTotals: SumDrift[][] = [];
  const ofMonths: SumDrift[][] = [];
  let after: string | undefined;
  do {
    const slice = await findSlice(books, after, accountsMax);
    const suspects = await findSuspects(options, slice, days);
    ofTotals.push(...(await readAgain(options, suspects, listTotalDrifts)));
    ofMonths.push(...(await readAgain(options, suspects, listMonthDrifts)));
    after = slice.upTo;
  } while (after !== undefined);
  return [...ofTotals.slice(0, DRIFTS_SHOWN_MAX), ...ofMonths.slice(0, DRIFTS_SHOWN_MAX)].flat();
}

async function findSuspects(
  { books, signal, daysMax = DAYS_MAX }: CheckTotalsOptions,
  slice: AccountSlice,
  days: readonly number[],
): Promise<Excess[]> {
  const found = new Map<string, Excess>();
  const ofSlice = listSliceConditions(slice);
  const newest = days.slice(-daysMax);
  const older = days.slice(0, -daysMax);
  for (let first = 0; first < older.length; first += daysMax) {
    signal.throwIfAborted();
    const some = older.slice(first, first + daysMax);
    addAll(found, await sumDays(books.db, [sql`day in (${sql.join(some)})`, ...ofSlice]));
  }
  await readSnapshot(books, async (tx) => {
    // A day may have begun since they were listed.
    const sinceNewest = sql`day >= ${newest[0] ?? 0}`;
    addAll(found, await sumDays(tx, [sinceNewest, ...ofSlice]));
    await addTotals(found, tx, ofSlice);
  });
  return [...found.values()].filter(isWrong);
}

/** Returns the drifts of each account that has any, and of no more accounts than are shown. */
async function readAgain(
  { books, signal }: CheckTotalsOptions,
  suspects: readonly Excess[],
  listDrifts: ListDrifts,
): Promise<SumDrift[][]> {
  const found: SumDrift[][] = [];
  for (const suspect of suspects) {
    if (found.length === DRIFTS_SHOWN_MAX) break;
    if (listDrifts(suspect).length === 0) continue;
    signal.throwIfAborted();
    const drifts = [...(await sumAccount(books, suspect.account)).values()].flatMap(listDrifts);
    if (drifts.length > 0) found.push(drifts);
  }
  return found;
}

function sumAccount(books: Books, account: string): Promise<ReadonlyMap<string, Excess>> {
  const ofAccount = [sql`account = ${account}`];
  return readSnapshot(books, async (tx) => {
    const found = new Map<string, Excess>();
    addAll(found, await sumDays(tx, ofAccount));
    await addTotals(found, tx, ofAccount);
    return found;
  });
}

/** What the totals ought to be, so it is taken off. */
function sumDays(db: Db, conditions: readonly Condition[]): Promise<readonly Excess[]> {
  return read(
    db,
    sql`select account, -sum(entries) as entries, -sum(charged) as charged, 0 as paid,
      -sum(charged) as monthly
    from account_days where ${sql.join(conditions, sql` and `)} group by account`,
  );
}

async function addTotals(
  found: Map<string, Excess>,
  db: Db,
  conditions: readonly Condition[],
): Promise<void> {
  const where = sql`where ${sql.join([sql`1 = 1`, ...conditions], sql` and `)}`;
  for (const select of [
    sql`select account, entries, charged, paid, 0 as monthly from account_totals ${where}`,
    sql`select account, 0 as entries, 0 as charged, -sum(amount) as paid, 0 as monthly
      from payments ${where} group by account`,
    sql`select account, 0 as entries, 0 as charged, 0 as paid, sum(charged) as monthly
      from key_months ${where} group by account`,
  ]) {
    addAll(found, await read(db, select));
  }
}

async function read(db: Db, select: RawBuilder<unknown>): Promise<readonly Excess[]> {
  const { rows } = await sql<Excess>`${select}`.execute(db);
  return rows;
}

function addAll(found: Map<string, Excess>, rows: readonly Excess[]): void {
  for (const row of rows) {
    const { account, entries, charged, paid, monthly } = row;
    const sums = found.get(account);
    found.set(account, {
      account,
      entries: entries + (sums?.entries ?? 0),
      charged: charged + (sums?.charged ?? 0),
      paid: paid + (sums?.paid ?? 0),
      monthly: monthly + (sums?.monthly ?? 0),
    });
  }
}

function isWrong(excess: Excess): boolean {
  return listTotalDrifts(excess).length > 0 || listMonthDrifts(excess).length > 0;
}

function listTotalDrifts(excess: Excess): SumDrift[] {
  return (['entries', 'charged', 'paid'] as const)
    .filter((column) => excess[column] !== 0)
    .map((column) => driftOf('account_totals', excess.account, column, excess[column]));
}

function listMonthDrifts({ account, monthly }: Excess): SumDrift[] {
  return monthly === 0 ? [] : [driftOf('key_months', account, 'charged', monthly)];
}

function driftOf(table: string, row: string, column: string, excess: number): SumDrift {
  return { day: null, table, row, column, excess };
}
