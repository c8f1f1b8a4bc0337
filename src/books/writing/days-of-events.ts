import { minuteOfRequest } from '../../lib/request-id.ts';
import { dayOfMs } from '../engine/days.ts';
import type { EntryRow } from '../engine/tables.ts';

/**
 * Days that may have the same events: from the day on which the first of the requests came. Nearly
 * always that is the day of the entries itself.
 */
export function listDaysOfEvents(
  entries: readonly Pick<EntryRow, 'request' | 'ms'>[],
  days: ReadonlySet<number>,
): number[] {
  const first = Math.min(
    ...entries.flatMap(({ request, ms }) => [dayOfMs(minuteOfRequest(request) ?? ms), dayOfMs(ms)]),
  );
  return [...days].filter((day) => day >= first);
}
