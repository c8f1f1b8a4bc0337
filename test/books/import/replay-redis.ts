import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestConnection } from '../../support/servers/redis-connection.ts';

/**
 * What two nodes of an earlier version have exported, `a` and `b`, and what Redis has: two accounts
 * in buckets 3 and 200, of which one request was taken back by a failover and came again.
 */
export const SEGMENTS = 'test/fixtures/segments';

interface RedisRecord {
  readonly key: string;
  readonly hash?: Readonly<Record<string, string>>;
  readonly set?: readonly string[];
  /** The id of each entry, and its fields in base64. */
  readonly stream?: readonly (readonly [id: string, ...fields: string[]])[];
  /** How many entries the stream ever had. */
  readonly added?: number;
}

/** Makes a Redis what it was when the segments were exported. */
export async function replayRedis({ client, send }: TestConnection): Promise<void> {
  const text = readFileSync(join(SEGMENTS, 'redis.json'), 'utf8');
  for (const { key, hash, set, stream, added } of JSON.parse(text) as RedisRecord[]) {
    if (hash !== undefined) await send('hset', [key, ...Object.entries(hash).flat()]);
    if (set !== undefined) await send('sadd', [key, ...set]);
    for (const [id, ...fields] of stream ?? []) {
      const bytes = fields.map((field) => Buffer.from(field, 'base64'));
      await client.callBuffer('xadd', key, id, ...bytes);
    }
    const last = stream?.at(-1)?.[0];
    if (last === undefined) continue;
    await send('xsetid', [key, last, 'ENTRIESADDED', String(added), 'MAXDELETEDID', '1-0']);
  }
}
