import type { RedisConnection } from '../../../redis/connect-redis.ts';
import type { EntryRow } from '../../engine/tables.ts';
import { isLost } from '../../stream/is-lost.ts';

type Connection = Pick<RedisConnection, 'client' | 'send'>;

/**
 * The rows of one request from the books, and from what waits to be entered in them. An event
 * counts once, as it will in the books: the row there gives way only if Redis has lost it.
 */
export async function mergeRows(
  connection: Connection,
  entered: readonly EntryRow[],
  waiting: readonly EntryRow[],
): Promise<EntryRow[]> {
  const byEvent = new Map(entered.map((row) => [eventOf(row), row]));
  for (const row of waiting.toSorted(compareRows)) {
    const other = byEvent.get(eventOf(row));
    if (other === undefined || (await isLost(connection, other))) byEvent.set(eventOf(row), row);
  }
  return [...byEvent.values()].sort(compareRows);
}

export function compareRows(first: EntryRow, second: EntryRow): number {
  return first.ms - second.ms || first.seq - second.seq;
}

function eventOf({ account, kind }: EntryRow): string {
  return `${kind} ${account}`;
}
