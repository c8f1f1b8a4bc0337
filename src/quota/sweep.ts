import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { keysOfBucket } from './keys-of-bucket.ts';

export interface SweepReply {
  /** Where the next sweep of the bucket goes on; `SWEEP_START` when this one has come to its end. */
  readonly cursor: string;
  readonly swept: number;
  readonly chargedMicros: number;
}

/** Before the first hold of a bucket, and after its last. */
export const SWEEP_START = '0';
/** In one call: Redis does nothing else meanwhile. About so many; up to 512 where all are short (Redis 7.0). */
const HOLDS_SEEN_MAX = 100;

const script = loadLuaScript(
  new URL('./sweep.lua', import.meta.url),
  ['holds', 'ledger'],
  ['prefix', 'cursor', 'seen_max'],
);

/** Ends those of a bucket's next holds whose lease has run out. */
export async function sweep(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  cursor: string,
): Promise<SweepReply> {
  const { prefix, holds, ledger } = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { holds, ledger },
    { prefix, cursor, seen_max: HOLDS_SEEN_MAX },
  );
  const [next, swept, chargedMicros] = reply as [string, number, number];
  return { cursor: next, swept, chargedMicros };
}
