import { sql } from 'kysely';
import { closeMonth, openUnlikeMonths } from '../../src/books/duties/close-month.ts';
import type { Books } from '../../src/books/engine/books.ts';
import { dayOfMs } from '../../src/books/engine/days.ts';
import { daysOfMonth, monthOfDay } from '../../src/books/engine/months.ts';
import { readSnapshot } from '../../src/books/engine/read-snapshot.ts';
import { SUM_COLUMNS } from '../../src/books/engine/tables.ts';
import { DatabaseFault, type SimulatedDatabase } from './simulated-database.ts';
import type { SimulatedProcess, SimulatedTime } from './simulated-time.ts';

const CLOSE_MS = 4_000;
const LOOK_MS = 700;
const USAGE_KEY = ['account', 'group', 'key', 'model', 'upstream'] as const;
const never = new AbortController().signal;

/**
 * Closes the month that is used, again and again, in a process that keeps the books. Each node does
 * it, as one does that lost the lease and has not noticed yet.
 */
export function keepClosing(time: SimulatedTime, books: Books, problems: Set<string>): void {
  const month = monthOfDay(dayOfMs(time.nowMs()));
  const close = async () => {
    try {
      await openUnlikeMonths(books);
      await closeMonth(books, month, never);
    } catch (error) {
      noteOwnFault(problems, 'a month cannot be closed', error);
    }
    time.callLater(CLOSE_MS, () => void close());
  };
  time.callLater(time.random.next() * CLOSE_MS, () => void close());
}

export interface MonthReader {
  readonly problems: Set<string>;
  /** How often it found a closed month. */
  found(): number;
}

/** Asks all the time whether a month that is closed has the sums of its days. */
export function readMonths(time: SimulatedTime, database: SimulatedDatabase): MonthReader {
  const process: SimulatedProcess = { name: 'reader of months', isAlive: true };
  const books = database.open(process);
  const problems = new Set<string>();
  let closed = 0;
  const look = async () => {
    try {
      for (const { month, differs } of await compareMonths(books)) {
        closed += 1;
        if (differs) problems.add(`month ${month} is closed with other sums than its days have`);
      }
    } catch (error) {
      noteOwnFault(problems, 'months cannot be read', error);
    }
    time.callLater(LOOK_MS, () => void look());
  };
  time.inProcess(process, () => time.callLater(LOOK_MS, () => void look()));
  return { problems, found: () => closed };
}

/** That the database is away, or has no tables yet because it was, is no problem. */
function noteOwnFault(problems: Set<string>, what: string, error: unknown): void {
  const { message, stack } = error as Error;
  if (error instanceof DatabaseFault || message.includes('no such table')) return;
  problems.add(`${what}: ${stack}`);
}

async function compareMonths(books: Books): Promise<{ month: string; differs: boolean }[]> {
  const key = sql.join(USAGE_KEY.map((name) => sql.ref(name)));
  const sums = sql.join(SUM_COLUMNS.map((name) => sql`sum(${sql.ref(name)})`));
  return await readSnapshot(books, async (tx) => {
    const closed = await tx
      .selectFrom('closed_months')
      .select('month')
      .where('sums', 'is not', null)
      .execute();
    const found = [];
    for (const { month } of closed) {
      const { first, end } = daysOfMonth(month);
      const read = async (table: 'usage_months' | 'usage_days', where: typeof sums) => {
        const { rows } = await sql<object>`
          select ${key}, ${sums} from ${sql.table(table)}
          where ${where} group by ${key} order by ${key}`.execute(tx);
        return JSON.stringify(rows.map((row) => Object.values(row)));
      };
      const summed = await read('usage_months', sql`month = ${month}`);
      const days = await read('usage_days', sql`day >= ${first} and day < ${end}`);
      found.push({ month, differs: summed !== days });
    }
    return found;
  });
}
