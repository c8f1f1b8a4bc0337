import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';

export interface SweepReply {
  readonly swept: number;
  readonly chargedMicros: number;
  /** The sweep took as many entries as it was allowed to; there may be more. */
  readonly isFull: boolean;
}

const script = loadLuaScript(
  new URL('./sweep.lua', import.meta.url),
  ['holds', 'leases', 'renewals', 'ledger'],
  ['prefix', 'count_max'],
);

/**
 * Ends the holds of a bucket whose lease has run out. Looks at no more than `countMax` entries of
 * the indexes.
 */
export async function sweep(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  countMax: number,
): Promise<SweepReply> {
  const { prefix, holds, leases, renewals, ledger } = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { holds, leases, renewals, ledger },
    { prefix, count_max: countMax },
  );
  const [swept, chargedMicros, taken] = reply as [number, number, number];
  return { swept, chargedMicros, isFull: taken === countMax };
}
