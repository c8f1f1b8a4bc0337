import { keysOfBucket } from '../../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import type { EntryRow } from '../../engine/tables.ts';
import { readStreamSpan } from '../../stream/audit-bucket.ts';
import { compareStreamIds } from '../../stream/stream-id.ts';

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

/** Another event, or none, is where this one ought to be. */
async function isLost(
  connection: Connection,
  { ms, bucket, seq, request }: EntryRow,
): Promise<boolean> {
  const id = `${ms}-${seq}`;
  const { ledger } = keysOfBucket(bucket);
  const reply = await connection.client.callBuffer('xrange', ledger, id, id);
  const [found] = reply as [Buffer, Buffer[]][];
  if (found !== undefined) return !found[1].some((field) => field.includes(request));
  const { floor } = await readStreamSpan(connection, bucket);
  return compareStreamIds(floor, id) < 0;
}
