import { assert } from '../../lib/assert.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import type { AdmittedRequest } from '../settlement/settlement.ts';
import type { Warnings } from './warnings.ts';
import { encodePayer } from './words/encode-payer.ts';

/** A running request as the store knows it. */
export interface Hold extends AdmittedRequest {
  readonly heldMicros: number;
  /** When the store last knew of the request, by its clock. */
  readonly lastKnownMs: number;
}

/**
 * `gone`: the lease has run out, or nobody can know any more whether it has. The request has been
 * charged its last noted cost, and settles late.
 */
export type RenewReply = 'active' | 'revoked' | 'suspended' | 'gone';

const script = loadLuaScript(
  new URL('./renew.lua', import.meta.url),
  ['account', 'key', 'holds', 'renewals', 'done', 'whole'],
  [
    ...(['prefix', 'payer', 'extras', 'month', 'request_id'] as const),
    ...(['warn_at', 'held_micros', 'seen_micros', 'lease_ms', 'last_known_ms'] as const),
  ],
);

/**
 * Keeps a hold alive, notes what its request has cost so far, and says whether it may continue.
 */
export async function renew(
  connection: Pick<RedisConnection, 'send'>,
  hold: Hold,
  { seenMicros, leaseMs }: { readonly seenMicros: number; readonly leaseMs: number },
  { atShare }: Pick<Warnings, 'atShare'>,
): Promise<RenewReply> {
  const redisKeys = keysOfBucket(hold.bucket);
  const reply = await script.call(
    connection,
    {
      account: redisKeys.account(hold.accountId),
      key: redisKeys.key(hold.keyId),
      holds: redisKeys.holds,
      renewals: redisKeys.renewals,
      done: redisKeys.done(hold.requestId),
      whole: redisKeys.whole,
    },
    {
      prefix: redisKeys.prefix,
      payer: encodePayer(hold),
      extras: hold.extras,
      month: hold.month,
      request_id: hold.requestId,
      warn_at: String(atShare),
      held_micros: hold.heldMicros,
      seen_micros: seenMicros,
      lease_ms: leaseMs,
      last_known_ms: hold.lastKnownMs,
    },
  );
  assert(reply !== 'invalid', 'renew.lua takes the amounts that it is given');
  return reply as RenewReply;
}
