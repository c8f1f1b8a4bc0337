import { pack } from 'msgpackr';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';

export interface ForgetOrder {
  readonly bucket: number;
  readonly accountId: string;
  readonly keyId: string;
  /** What the books say was spent in some old months. */
  readonly months: ReadonlyMap<string, number>;
  /** Whether the record itself may go if nothing is left in it. */
  readonly mayRemove: boolean;
}

interface Forgotten {
  readonly months: number;
  readonly isRemoved: boolean;
}

const script = loadLuaScript(
  new URL('./forget-key.lua', import.meta.url),
  ['key', 'keys', 'log'],
  ['key_id', 'months', 'may_remove'],
);

/** A month stays unless Redis and the books agree about it. */
export async function forgetKey(
  connection: Pick<RedisConnection, 'send'>,
  { bucket, accountId, keyId, months, mayRemove }: ForgetOrder,
): Promise<Forgotten> {
  const { key, keysOf, accountLog } = keysOfBucket(bucket);
  const texts = Object.fromEntries([...months].map(([month, micros]) => [month, String(micros)]));
  const reply = await script.call(
    connection,
    { key: key(keyId), keys: keysOf(accountId), log: accountLog(keyId) },
    { key_id: keyId, months: pack(texts), may_remove: mayRemove ? '1' : '' },
  );
  const [forgotten, isRemoved] = reply as [number, number];
  return { months: forgotten, isRemoved: isRemoved === 1 };
}
