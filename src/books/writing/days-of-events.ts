import { minuteOfRequest } from '../../lib/request-id.ts';
import { dayOfMs } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

type EventTime = Pick<EntryRow, 'request' | 'ms'>;

/**
 * A request, what is late of it and what a failover repeats are over within two days. An id that
 * tells of many more was made by a clock that was wrong.
 */
const BEGUN_BEFORE_DAYS_MAX = 7;

/** The books cannot have the event on an earlier day. Nearly always it is that of the entry. */
export function firstDayOfEvent({ request, ms }: EventTime): number {
  const day = dayOfMs(ms);
  const begun = dayOfMs(minuteOfRequest(request) ?? ms);
  return Math.min(Math.max(begun, day - BEGUN_BEFORE_DAYS_MAX), day);
}

/** Days that may have the same events. */
export function listDaysOfEvents(
  entries: readonly EventTime[],
  days: ReadonlySet<number>,
): number[] {
  const first = Math.min(...entries.map(firstDayOfEvent));
  return [...days].filter((day) => day >= first);
}
