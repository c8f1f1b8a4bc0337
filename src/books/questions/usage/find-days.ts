import { listClosedMonths } from '../../duties/close-month.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, msOfDay, nameDay } from '../../engine/days.ts';
import { listDays } from '../../engine/migrate-books.ts';
import { listMissingDays } from '../../engine/missing-days.ts';
import { BooksError } from '../books-error.ts';
import type { KnownTimes, UsageSegment } from './plan-usage.ts';

interface FoundDays extends KnownTimes {
  /** The days whose entries have a table. */
  readonly tables: ReadonlySet<number>;
  /** Those of which the archive has entries that the books do not. */
  readonly missing: ReadonlySet<number>;
}

/** Undefined while the books are empty. */
export async function findDays({ db }: Books): Promise<FoundDays | undefined> {
  const first = await findDay(db, 'asc');
  const last = await findDay(db, 'desc');
  if (first === undefined || last === undefined) return undefined;
  return {
    ...{ first, last },
    tables: new Set(await listDays({ db })),
    missing: new Set(await listMissingDays({ db })),
    closedMonths: new Set(await listClosedMonths({ db })),
  };
}

/** Asked for both ends at once, libsql would read every row between them. */
async function findDay(db: Books['db'], order: 'asc' | 'desc'): Promise<number | undefined> {
  const found = await db
    .selectFrom('account_days')
    .select('day')
    .orderBy('day', order)
    .limit(1)
    .executeTakeFirst();
  return found?.day;
}

/** Throws if something must be summed up from entries that the books do not have any more. */
export function refuseMissingDays(segments: readonly UsageSegment[], { missing }: FoundDays): void {
  for (const { source, fromMs, toMs } of segments) {
    if (source !== 'entries') continue;
    for (let day = dayOfMs(fromMs); msOfDay(day) < toMs; day++) {
      if (!missing.has(day)) continue;
      throw new BooksError(
        'entries_dropped',
        `the entries of ${nameDay(day)} are no longer in the books: ask for whole hours, and not by end_user, or begin after ${nameDay(Math.max(...missing))}`,
      );
    }
  }
}
