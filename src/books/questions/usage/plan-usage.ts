import { DAY_MS, HOUR_MS } from '../../../lib/units/time-units.ts';
import { dayOfMs, hourOfMs, msOfDay } from '../../engine/days.ts';
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

/** The first and the last day that the books know. */
export interface DaySpan {
  readonly first: number;
  readonly last: number;
}

/** Divides a span of time, so that each part is answered by the smallest table that can. */
export function planUsage(
  columns: readonly UsageGroup[],
  filter: UsageFilter,
  known: DaySpan,
): readonly UsageSegment[] {
  const { fromMs, toMs } = filter;
  const from = Math.max(fromMs ?? Number.NEGATIVE_INFINITY, msOfDay(known.first));
  const to = Math.min(toMs ?? Number.POSITIVE_INFINITY, msOfDay(known.last + 1));
  const needed = new Set<string>(columns);
  for (const name of USAGE_FILTERS) if (filter[name] !== undefined) needed.add(name);
  const { days, hours } = chooseRollups(needed);
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
    add(days, firstDay, lastDay);
    add(hours, lastDay, lastHour);
  }
  add('entries', lastHour, to);
  return segments;
}

interface Rollups {
  /** Undefined where hours answer for days too. */
  readonly days?: UsageSource;
  /** Undefined where no rollup can tell. */
  readonly hours?: UsageSource;
}

function chooseRollups(needed: ReadonlySet<string>): Rollups {
  const isOnlyAbout = (...names: string[]) => [...needed].every((name) => names.includes(name));
  if (needed.has('end_user')) return {};
  // There is a row for each model and upstream, so an hour has fewer than a day has accounts.
  if (isOnlyAbout('day', 'hour', 'model', 'upstream')) return { hours: 'fleet_hours' };
  if (needed.has('hour')) return { hours: 'usage_hours' };
  if (isOnlyAbout('day', 'account')) return { days: 'account_days', hours: 'usage_hours' };
  return { days: 'usage_days', hours: 'usage_hours' };
}
