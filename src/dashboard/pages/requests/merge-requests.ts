import type { ListedRequest } from '../../api/books-types.ts';

/** A request that was settled more than once has a row for each time. */
export function keyOfRow({ id, kind, time }: ListedRequest): string {
  return `${id} ${kind} ${time}`;
}

/** Returns the rows of both lists, each once, the newest first. */
export function mergeRequests(
  newer: readonly ListedRequest[],
  older: readonly ListedRequest[],
): readonly ListedRequest[] {
  const rows = new Map([...older, ...newer].map((row) => [keyOfRow(row), row]));
  return [...rows.values()].toSorted((one, other) => {
    const byTime = Date.parse(other.time) - Date.parse(one.time);
    return byTime !== 0 ? byTime : keyOfRow(other).localeCompare(keyOfRow(one));
  });
}
