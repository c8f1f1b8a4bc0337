import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { EntryRow } from '../engine/tables.ts';
import { decodeEntry } from '../writing/decode-entry.ts';
import { readStreamSpan } from './audit-bucket.ts';
import { readStreamEntry } from './read-stream.ts';
import { compareStreamIds } from './stream-id.ts';

type Connection = Pick<RedisConnection, 'client' | 'send'>;
/** An entry as the books have it. */
export type StoredEntry = Pick<EntryRow, 'ms' | 'seq' | 'bucket' | 'request' | 'kind' | 'account'>;

/**
 * Whether Redis has lost an entry, as a failover may do: nothing, or another event, is at its
 * place, and the stream was not trimmed there.
 */
export async function isLost(connection: Connection, stored: StoredEntry): Promise<boolean> {
  const { bucket, ms, seq } = stored;
  const id = `${ms}-${seq}`;
  const fields = await readStreamEntry(connection, bucket, id);
  if (fields !== undefined) return !isSameEvent(stored, fields, id);
  // Read after the entry: a floor only rises, so the entry was not trimmed before either.
  const { floor } = await readStreamSpan(connection, bucket);
  return compareStreamIds(id, floor) > 0;
}

function isSameEvent(stored: StoredEntry, fields: readonly Buffer[], id: string): boolean {
  try {
    const found = decodeEntry(stored.bucket, id, fields, () => undefined);
    if (found.is !== 'entry') return false;
    const { request, kind, account } = found.row;
    return request === stored.request && kind === stored.kind && account === stored.account;
  } catch {
    return false;
  }
}
