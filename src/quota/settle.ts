import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { encodePayer } from './encode-payer.ts';
import { keysOfBucket } from './keys-of-bucket.ts';
import type { Settlement } from './settlement.ts';

export type SettleReply =
  | {
      readonly kind: 'charge' | 'release' | 'late' | 'orphan';
      readonly chargedMicros: number;
      /** What it cost above what cap and balance allowed to charge. */
      readonly shortMicros: number;
      readonly balanceMicros: number;
    }
  | { readonly kind: 'repeated'; readonly chargedMicros: number }
  | { readonly kind: 'too_old' };

const script = loadLuaScript(
  new URL('./settle.lua', import.meta.url),
  ['account', 'key', 'holds', 'renewals', 'ledger', 'done'],
  ['payer', 'request_id', 'actual_micros', 'first_tried_ms', 'usage'],
);

/** Ends the hold of a request and charges what it cost, once, however often it is called. */
export function settle(
  connection: Pick<RedisConnection, 'send'>,
  settlement: Settlement,
): Promise<SettleReply> {
  const redisKeys = keysOfBucket(settlement.bucket);
  const reply = script.call(
    connection,
    {
      account: redisKeys.account(settlement.accountId),
      key: redisKeys.key(settlement.keyId),
      holds: redisKeys.holds,
      renewals: redisKeys.renewals,
      ledger: redisKeys.ledger,
      done: redisKeys.done(settlement.requestId),
    },
    {
      payer: encodePayer(settlement),
      request_id: settlement.requestId,
      actual_micros: settlement.actualMicros,
      first_tried_ms: settlement.firstTriedMs,
      usage: settlement.usage,
    },
  );
  return reply.then(readReply);
}

function readReply(reply: unknown): SettleReply {
  const [kind, chargedMicros, shortMicros, balanceMicros] = reply as [
    SettleReply['kind'],
    number,
    number,
    number,
  ];
  if (kind === 'too_old') return { kind };
  if (kind === 'repeated') return { kind, chargedMicros };
  return { kind, chargedMicros, shortMicros, balanceMicros };
}
