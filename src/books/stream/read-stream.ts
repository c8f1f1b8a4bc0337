import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import type { CommandArg } from '../../redis/direct-line/command-writer.ts';
import { createBytesCommand } from '../../redis/direct-line/create-command.ts';
import type { StreamFields } from '../writing/decode-entry.ts';
import type { StreamId } from './stream-id.ts';

/**
 * Bounds one reply of Redis. While Redis sends it and its reader reads it, neither serves anything
 * else.
 */
export const STREAM_PAGE_MAX = 128;

export interface StreamEntry {
  readonly id: StreamId;
  readonly fields: StreamFields;
}

interface StreamRange {
  /** The first entry is the next one after this. */
  readonly after: StreamId;
  /** The last entry; with milliseconds alone, the last one in that millisecond. */
  readonly until: StreamId;
}

/** The next entries of a bucket's ledger, `STREAM_PAGE_MAX` unless there are no more of them. */
export function readStreamPage(
  connection: Pick<RedisConnection, 'client'>,
  bucket: number,
  range: StreamRange,
): Promise<readonly StreamEntry[]> {
  return readPageOf(connection, keysOfBucket(bucket).ledger, range);
}

/** The same for any stream, by its Redis key. */
export async function readPageOf(
  connection: Pick<RedisConnection, 'client'>,
  stream: string,
  { after, until }: StreamRange,
): Promise<readonly StreamEntry[]> {
  const range = [stream, `(${after}`, until, 'COUNT', STREAM_PAGE_MAX];
  const entries = await readRange(connection, range);
  return entries.map(([id, fields]) => ({ id: String(id), fields }));
}

/** The fields of one entry; undefined when there is none with this id. */
export async function readStreamEntry(
  connection: Pick<RedisConnection, 'client'>,
  bucket: number,
  id: StreamId,
): Promise<StreamFields | undefined> {
  const [entry] = await readRange(connection, [keysOfBucket(bucket).ledger, id, id]);
  return entry?.[1];
}

/** As bytes: the usage is packed. All ranges of one turn of the event loop are written at once. */
async function readRange(
  { client }: Pick<RedisConnection, 'client'>,
  range: readonly CommandArg[],
): Promise<readonly (readonly [id: Buffer, fields: Buffer[]])[]> {
  return (await client.sendCommand(createBytesCommand('xrange', range))) as [Buffer, Buffer[]][];
}
