import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { keysOfBucket } from './keys-of-bucket.ts';

export interface SweepReply {
  readonly swept: number;
  readonly chargedMicros: number;
}

const script = loadLuaScript(
  new URL('./sweep.lua', import.meta.url),
  ['holds', 'leases', 'ledger'],
  ['prefix', 'count_max'],
);

/** Ends the holds of a bucket whose lease has run out, at most `countMax` of them. */
export async function sweep(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  countMax: number,
): Promise<SweepReply> {
  const { prefix, holds, leases, ledger } = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { holds, leases, ledger },
    { prefix, count_max: countMax },
  );
  const [swept, chargedMicros] = reply as [number, number];
  return { swept, chargedMicros };
}
