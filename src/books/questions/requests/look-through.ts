import { msOfDay } from '../../engine/days.ts';
import { yieldTurn } from '../yield-turn.ts';
import type { DayGroup } from './group-days.ts';
import { isNarrow } from './request-filter.ts';
import {
  findRareRows,
  RARE_ROWS_MAX,
  type RequestRow,
  type RowSearch,
  scanDay,
  scanDayGroup,
} from './scan-day.ts';
import { type DaySlice, sliceDay } from './slice-day.ts';

/** What was found in a part of a day. */
interface LookedPart {
  /** The newest first. */
  readonly rows: readonly RequestRow[];
  /** How many rows were looked at, about. */
  readonly looked: number;
  /** Everything from here on was looked at. */
  readonly fromMs: number;
}

type Search = Omit<RowSearch, 'day'>;

/**
 * Looks for the newest rows of some days that match, part by part. `search` is called before each
 * part, and says what was reached by then.
 */
export async function* lookThrough(
  search: () => Search,
  { days, rows }: DayGroup,
  signal: AbortSignal,
): AsyncGenerator<LookedPart, void, undefined> {
  const [day, ...others] = days;
  if (others.length === 0) return yield* lookThroughDay(() => ({ ...search(), day }), rows, signal);
  await yieldTurn(signal);
  const found = await scanDayGroup(search(), days);
  yield { rows: found, looked: rows ?? found.length, fromMs: msOfDay(others.at(-1) ?? day) };
}

async function* lookThroughDay(
  scan: () => RowSearch,
  rowsOfDay: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<LookedPart, void, undefined> {
  const { db, day, filter } = scan();
  const wholeDay = (rows: readonly RequestRow[]) => ({
    ...{ rows, looked: rows.length, fromMs: msOfDay(day) },
  });
  await yieldTurn(signal);
  if (isNarrow(filter)) return yield wholeDay(await scanDay(scan()));
  if (rowsOfDay === undefined || rowsOfDay > RARE_ROWS_MAX) {
    const rare = await findRareRows(scan());
    if (rare !== undefined) return yield wholeDay(rare);
  }
  for (const slice of await sliceDay({ db }, { day, rows: rowsOfDay }, filter)) {
    if (isOutside(slice, scan())) continue;
    await yieldTurn(signal);
    const rows = await scanDay(scan(), slice);
    yield { rows, looked: slice.rows, fromMs: slice.fromMs };
  }
}

function isOutside(
  { fromMs, toMs }: DaySlice,
  { filter, before }: Pick<RowSearch, 'filter' | 'before'>,
): boolean {
  const lastMs = Math.min(
    before?.ms ?? Number.POSITIVE_INFINITY,
    (filter.toMs ?? Number.POSITIVE_INFINITY) - 1,
  );
  return fromMs > lastMs || toMs <= (filter.fromMs ?? 0);
}
