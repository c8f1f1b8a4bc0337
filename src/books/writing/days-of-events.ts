import { minuteOfRequest } from '../../lib/request-id.ts';
import { dayOfMs } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

type EventTime = Pick<EntryRow, 'request' | 'ms'>;

/** The books cannot have the event on an earlier day. Nearly always it is that of the entry. */
export function firstDayOfEvent({ request, ms }: EventTime): number {
  return Math.min(dayOfMs(minuteOfRequest(request) ?? ms), dayOfMs(ms));
}

/** Days that may have the same events. */
export function listDaysOfEvents(
  entries: readonly EventTime[],
  days: ReadonlySet<number>,
): number[] {
  const first = Math.min(...entries.map(firstDayOfEvent));
  return [...days].filter((day) => day >= first);
}
