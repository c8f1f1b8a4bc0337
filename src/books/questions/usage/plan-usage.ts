import { DAY_MS, HOUR_MS } from '../../../lib/units/time-units.ts';
import { dayOfMs, hourOfMs, msOfDay } from '../../engine/days.ts';
import { type DaysOfMonth, daysOfMonth, monthOfDay } from '../../engine/months.ts';
import {
  USAGE_FILTERS,
  type UsageFilter,
  type UsageGroup,
  type UsageSource,
} from './usage-query.ts';

/** A span of time, and where its sums are. Those of rollups have whole hours, or whole days. */
export interface UsageSegment {
  readonly source: UsageSource;
  readonly fromMs: number;
  readonly toMs: number;
}

/** What the books have. */
export interface KnownTimes {
  /** Days. */
  readonly first: number;
  readonly last: number;
  readonly closedMonths: ReadonlySet<string>;
}

/** Divides a span of time, so that each part is answered by the smallest table that can. */
export function planUsage(
  columns: readonly UsageGroup[],
  filter: UsageFilter,
  known: KnownTimes,
): readonly UsageSegment[] {
  const { fromMs, toMs } = filter;
  // Whole months, since those may be closed.
  const firstMonth = daysOfMonth(monthOfDay(known.first));
  const lastMonth = daysOfMonth(monthOfDay(known.last));
  const from = Math.max(fromMs ?? Number.NEGATIVE_INFINITY, msOfDay(firstMonth.first));
  const to = Math.min(toMs ?? Number.POSITIVE_INFINITY, msOfDay(lastMonth.end));
  const needed = new Set<string>(columns);
  for (const name of USAGE_FILTERS) if (filter[name] !== undefined) needed.add(name);
  const { months, days, hours } = chooseRollups(needed);
  const segments: UsageSegment[] = [];
  const add = (source: UsageSource, start: number, end: number) => {
    if (start < end) segments.push({ source, fromMs: start, toMs: end });
  };
  const firstHour = hourOfMs(from + HOUR_MS - 1) * HOUR_MS;
  const lastHour = hourOfMs(to) * HOUR_MS;
  if (hours === undefined || firstHour >= lastHour) {
    add('entries', from, to);
    return segments;
  }
  add('entries', from, firstHour);
  const firstDay = msOfDay(dayOfMs(firstHour + DAY_MS - 1));
  const lastDay = msOfDay(dayOfMs(lastHour));
  if (days === undefined || firstDay >= lastDay) {
    add(hours, firstHour, lastHour);
  } else {
    add(hours, firstHour, firstDay);
    const span = { first: dayOfMs(firstDay), end: dayOfMs(lastDay) };
    const closed = months === undefined ? [] : listClosed(span, known.closedMonths);
    let day = firstDay;
    for (const { first, end } of closed) {
      add(days, day, msOfDay(first));
      add('usage_months', msOfDay(first), msOfDay(end));
      day = msOfDay(end);
    }
    add(days, day, lastDay);
    add(hours, lastDay, lastHour);
  }
  add('entries', lastHour, to);
  return segments;
}

/** The closed months that lie entirely within a span of days. */
function listClosed(
  { first, end }: DaysOfMonth,
  closedMonths: ReadonlySet<string>,
): readonly DaysOfMonth[] {
  const closed: DaysOfMonth[] = [];
  for (let day = first; day < end; ) {
    const month = monthOfDay(day);
    const days = daysOfMonth(month);
    if (days.first >= first && days.end <= end && closedMonths.has(month)) closed.push(days);
    day = days.end;
  }
  return closed;
}

interface Rollups {
  readonly months?: 'usage_months';
  /** Undefined if hours answer for days too. */
  readonly days?: UsageSource;
  /** Undefined if no rollup has the answer. */
  readonly hours?: UsageSource;
}

function chooseRollups(needed: ReadonlySet<string>): Rollups {
  const isOnlyAbout = (...names: string[]) => [...needed].every((name) => names.includes(name));
  if (needed.has('end_user')) return {};
  // There is a row for each model and upstream, so an hour has fewer than a day has accounts.
  if (isOnlyAbout('day', 'hour', 'model', 'upstream')) return { hours: 'fleet_hours' };
  if (needed.has('hour')) return { hours: 'usage_hours' };
  if (isOnlyAbout('day', 'account')) return { days: 'account_days', hours: 'usage_hours' };
  if (needed.has('day')) return { days: 'usage_days', hours: 'usage_hours' };
  return { months: 'usage_months', days: 'usage_days', hours: 'usage_hours' };
}
