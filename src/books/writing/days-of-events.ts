import { minuteOfRequest } from '../../lib/request-id.ts';
import { dayOfMs } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';
import { CLOCK_DIFFERENCE_MAX_MS } from '../stream/late-entries.ts';

type EventTime = Pick<EntryRow, 'request' | 'ms'>;

/**
 * The books cannot have the event on an earlier day. Nearly always it is the day of the entry.
 * The clock of the node, from which the id comes, may have been ahead of that of Redis.
 */
export function firstDayOfEvent({ request, ms }: EventTime): number {
  return dayOfMs(Math.min(minuteOfRequest(request) ?? ms, ms) - CLOCK_DIFFERENCE_MAX_MS);
}

/** Days that may have the same events. */
export function listDaysOfEvents(
  entries: readonly EventTime[],
  days: ReadonlySet<number>,
): number[] {
  const first = Math.min(...entries.map(firstDayOfEvent));
  return [...days].filter((day) => day >= first);
}
