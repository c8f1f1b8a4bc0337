import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import type { Warnings } from './warnings.ts';

export interface SweepReply {
  readonly swept: number;
  readonly chargedMicros: number;
  /** The sweep took as many entries as it was allowed to; there may be more. */
  readonly isFull: boolean;
  /** Events of the bucket wait to be taken out. */
  readonly hasEvents: boolean;
}

const script = loadLuaScript(
  new URL('./sweep.lua', import.meta.url),
  ['holds', 'leases', 'renewals', 'ledger', 'events', 'whole'],
  ['prefix', 'count_max', 'low_micros'],
);

/**
 * Ends the holds of a bucket whose lease has run out. Reads at most `countMax` entries of the
 * indexes.
 */
export async function sweep(
  connection: Pick<RedisConnection, 'send'>,
  bucket: number,
  countMax: number,
  { lowBalanceMicros }: Pick<Warnings, 'lowBalanceMicros'>,
): Promise<SweepReply> {
  const { prefix, holds, leases, renewals, ledger, events, whole } = keysOfBucket(bucket);
  const reply = await script.call(
    connection,
    { holds, leases, renewals, ledger, events, whole },
    { prefix, count_max: countMax, low_micros: lowBalanceMicros },
  );
  const [swept, chargedMicros, taken, hasEvents] = reply as [number, number, number, number];
  return { swept, chargedMicros, isFull: taken === countMax, hasEvents: hasEvents === 1 };
}
