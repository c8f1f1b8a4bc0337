import type { Clock } from '../../lib/time/clock.ts';
import type { Books, BooksTransaction } from '../engine/books.ts';
import { msOfDay, nameDay } from '../engine/days.ts';
import { readSnapshot } from '../engine/read-snapshot.ts';
import type { DayRow } from '../engine/tables.ts';
import { LATE_WITHIN_MAX_MS } from '../stream/late-entries.ts';
import { checkEntries, type EntrySums } from './check-entries.ts';
import { checkRollups } from './check-rollups.ts';
import { DRIFTS_SHOWN_MAX } from './compare-sums.ts';
import type { SumDrift } from './ledger-report.ts';
import { listRollupDays } from './list-rollup-days.ts';
import {
  addUnsettled,
  NONE_UNSETTLED,
  sumUnsettled,
  type UnsettledOfDay,
} from './sum-unsettled.ts';
import { decodeManifest, decodeVerifiedDay, type VerifiedDay } from './verified-day.ts';

/**
 * Reads the archive of a day that has left the books. Describes what is wrong with it, or that it
 * is not what the books have noted as its manifest.
 */
export type VerifyArchivedDay = (day: number, noted: string) => Promise<readonly string[]>;

interface CheckDaysOptions {
  readonly books: Books;
  readonly clock: Clock;
  /** Whether to read closed days again that were verified before. */
  readonly isFull: boolean;
  readonly verifyArchivedDay?: VerifyArchivedDay | undefined;
  onHour(done: number, total: number): void;
}

interface DaysCheck {
  readonly days: number;
  readonly daysRead: number;
  readonly drifts: readonly SumDrift[];
  readonly archiveProblems: readonly string[];
  readonly unsettled: UnsettledOfDay;
}

interface DayCheck {
  readonly isRead: boolean;
  readonly drifts: readonly SumDrift[];
  readonly archiveProblems?: readonly string[];
  readonly unsettled: UnsettledOfDay;
  /** To be kept, so that the day need not be read again. */
  readonly verified?: VerifiedDay;
}

type RollupSums = Pick<VerifiedDay, 'entries' | 'charged' | 'short'>;

const NOTHING_READ: DayCheck = { isRead: false, drifts: [], unsettled: NONE_UNSETTLED };
const HOURS_OF_DAY = 24;
const ENTRIES_SUMS = ['rows', 'held', 'charged', 'short', 'checksum'] as const;
const ARCHIVED_SUMS = ['rows', 'held', 'charged', 'short'] as const;

/**
 * Compares the entries of each day with the rollups. A day is closed when all of its requests have
 * been settled; what its entries were is kept then. It is read again if its rollups have changed.
 *
 *   open ──closed, and all agree──▶ verified ──rollups have changed──▶ open
 */
export async function checkDays(options: CheckDaysOptions): Promise<DaysCheck> {
  const { books, onHour } = options;
  // Read before the days themselves: a day that begins in between must not seem to lack entries.
  const rollupDays = await listRollupDays(books);
  const rows = await books.db.selectFrom('days').selectAll().orderBy('day').execute();
  const known = new Set(rows.map(({ day }) => day));
  const unknown = rollupDays.filter((day) => !known.has(day));
  const drifts = await listDaysWithoutEntries(books, unknown);
  const days = new Set(rows.filter(({ state }) => state !== 'dropped').map(({ day }) => day));
  const total = rows.length * HOURS_OF_DAY;
  const archiveProblems: string[] = [];
  let daysRead = 0;
  let unsettled = NONE_UNSETTLED;
  for (const [index, row] of rows.entries()) {
    const done = index * HOURS_OF_DAY;
    const onHourOfDay = (hour: number) => onHour(done + hour, total);
    onHourOfDay(0);
    const check = await checkAnyDay(options, { row, days, onHourOfDay });
    if (check.verified !== undefined) await keepVerified(books, row.day, check.verified);
    if (check.isRead) daysRead++;
    drifts.push(...check.drifts);
    archiveProblems.push(...(check.archiveProblems ?? []));
    unsettled = addUnsettled(unsettled, check.unsettled);
  }
  return { days: rows.length, daysRead, drifts, archiveProblems, unsettled };
}

interface DayToCheck {
  readonly row: DayRow;
  readonly days: ReadonlySet<number>;
  readonly onHourOfDay: (hour: number) => void;
}

function checkAnyDay(options: CheckDaysOptions, toCheck: DayToCheck): Promise<DayCheck> {
  const { state, archive } = toCheck.row;
  // Its entries are in two places until it is archived again: the sums of neither are the day's.
  if (state === 'open' && archive !== null) {
    return Promise.resolve(NOTHING_READ);
  }
  if (state === 'dropped') return checkDroppedDay(options, toCheck.row);
  return readSnapshot(options.books, async (tx) => {
    const row = await tx
      .selectFrom('days')
      .selectAll()
      .where('day', '=', toCheck.row.day)
      .executeTakeFirstOrThrow();
    // An archiver may have dropped its table since the days were listed.
    const isHere = row.state !== 'dropped';
    return isHere ? await checkDay(options, tx, { ...toCheck, row }) : NOTHING_READ;
  });
}

async function checkDay(
  { clock, isFull }: CheckDaysOptions,
  tx: BooksTransaction,
  { row, days, onHourOfDay }: DayToCheck,
): Promise<DayCheck> {
  const { day } = row;
  const nowMs = clock.nowMs();
  const isClosed = nowMs >= msOfDay(day + 1) + LATE_WITHIN_MAX_MS;
  const rollup = await sumRollup(tx, day);
  const before = decodeVerifiedDay(row.verified);
  const isSame = before !== undefined && isSameRollup(before, rollup);
  if (isClosed && isSame && !isFull)
    return { isRead: false, drifts: [], unsettled: before.unsettled };

  const { sums, drifts: ofHours } = await checkEntries(tx, day, onHourOfDay);
  const drifts = [...ofHours.slice(0, DRIFTS_SHOWN_MAX), ...(await checkRollups(tx, day))];
  const manifest = decodeManifest(row.archive);
  if (manifest !== undefined)
    drifts.push(...compareDays(day, 'archive', ARCHIVED_SUMS, sums, manifest));
  if (isSame && !(await wasReplaced(tx, day, before.verified_ms)))
    drifts.push(...compareDays(day, 'entries', ENTRIES_SUMS, before, sums));
  const unsettled = sums.expired === 0 ? NONE_UNSETTLED : await sumUnsettled(tx, day, days, nowMs);
  const check = { isRead: true, drifts, unsettled };
  if (!isClosed || drifts.length > 0) return check;
  const { entries } = rollup;
  return { ...check, verified: { ...sums, entries, unsettled, verified_ms: nowMs } };
}

/** The entries are in the archive alone; the rollups are still here. */
async function checkDroppedDay(
  { books, isFull, verifyArchivedDay }: CheckDaysOptions,
  { day, verified, archive }: DayRow,
): Promise<DayCheck> {
  const before = decodeVerifiedDay(verified);
  const manifest = decodeManifest(archive);
  const rollup = await sumRollup(books.db, day);
  const drifts: SumDrift[] = [];
  if (manifest === undefined) drifts.push(driftOf(day, 'archive', 'rows', -rollup.entries));
  else drifts.push(...compareDays(day, 'archive', ['charged', 'short'], rollup, manifest));
  if (manifest !== undefined && before !== undefined)
    drifts.push(...compareDays(day, 'archive', ['rows', 'held'], before, manifest));
  const isRead = isFull && archive !== null && verifyArchivedDay !== undefined;
  const archiveProblems = isRead ? await verifyArchivedDay(day, archive) : [];
  if (isRead) drifts.push(...(await readSnapshot(books, (tx) => checkRollups(tx, day))));
  return { isRead, drifts, archiveProblems, unsettled: before?.unsettled ?? NONE_UNSETTLED };
}

async function sumRollup(db: Pick<BooksTransaction, 'selectFrom'>, day: number) {
  const { entries, charged, short } = await db
    .selectFrom('account_days')
    .select(({ fn }) => [
      fn.sum<number | null>('entries').as('entries'),
      fn.sum<number | null>('charged').as('charged'),
      fn.sum<number | null>('short').as('short'),
    ])
    .where('day', '=', day)
    .executeTakeFirstOrThrow();
  return { entries: entries ?? 0, charged: charged ?? 0, short: short ?? 0 };
}

function isSameRollup(before: RollupSums, now: RollupSums): boolean {
  return (['entries', 'charged', 'short'] as const).every((name) => before[name] === now[name]);
}

/** Rollups of days that have no table and no archive. */
async function listDaysWithoutEntries({ db }: Books, days: readonly number[]): Promise<SumDrift[]> {
  const drifts: SumDrift[] = [];
  for (const day of days.slice(0, DRIFTS_SHOWN_MAX)) {
    const { entries } = await sumRollup(db, day);
    drifts.push(driftOf(day, 'account_days', 'entries', entries));
  }
  return drifts;
}

/** Whether an entry of the day has given way to one that took its place: see `enter-rows.ts`. */
async function wasReplaced(tx: BooksTransaction, day: number, sinceMs: number): Promise<boolean> {
  const replaced = await tx
    .selectFrom('repeats')
    .select('ms')
    .where('fate', '=', 'replaced')
    .where('noted_ms', '>=', sinceMs)
    .where('ms', '>=', msOfDay(day))
    .where('ms', '<', msOfDay(day + 1))
    .executeTakeFirst();
  return replaced !== undefined;
}

function compareDays<Name extends keyof EntrySums>(
  day: number,
  table: string,
  names: readonly Name[],
  expected: Readonly<Record<Name, number>>,
  found: Readonly<Record<Name, number>>,
): SumDrift[] {
  return names
    .filter((name) => expected[name] !== found[name])
    .map((name) => driftOf(day, table, name, found[name] - expected[name]));
}

function driftOf(day: number, table: string, column: string, excess: number): SumDrift {
  return { day: nameDay(day), table, row: '', column, excess };
}

async function keepVerified({ db }: Books, day: number, verified: VerifiedDay): Promise<void> {
  await db
    .updateTable('days')
    .set({ verified: JSON.stringify(verified) })
    .where('day', '=', day)
    .execute();
}
