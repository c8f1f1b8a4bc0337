import type { RedisConnection } from '../redis/connect-redis.ts';
import { createGatherer } from '../redis/create-gatherer.ts';
import { loadLuaScript } from '../redis/lua-script.ts';
import { isOfSameMinute } from '../redis/redis-keys.ts';
import { encodePayer } from './encode-payer.ts';
import { keysOfBucket } from './keys-of-bucket.ts';
import { replyOf } from './reply-of.ts';
import type { Settlement } from './settlement.ts';

type Connection = Pick<RedisConnection, 'send'>;

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
  ['payer'],
  ['request_id', 'actual_micros', 'first_tried_ms', 'usage'],
);

/** Ends the hold of a request and charges what it cost, once, however often it is called. */
export function settle(connection: Connection, settlement: Settlement): Promise<SettleReply> {
  return callScript(connection, [settlement]).then((reply) => readReply(reply, 0));
}

/** The same for many: those of a payer that come together are one run of the script. */
export function createGatheredSettle(
  connection: Pick<RedisConnection, 'send' | 'atTurnEnd'>,
): (settlement: Settlement) => Promise<SettleReply> {
  return createGatherer<Settlement, SettleReply>({
    connection,
    canShare: (first, settlement) =>
      first.keyId === settlement.keyId &&
      first.model === settlement.model &&
      first.month === settlement.month &&
      first.accountId === settlement.accountId &&
      first.bucket === settlement.bucket &&
      isOfSameMinute(first.requestId, settlement.requestId),
    runScript: (settlements) => callScript(connection, settlements),
    readReply,
  });
}

/** All of them are of one payer, and of one minute. */
function callScript(connection: Connection, settlements: readonly Settlement[]): Promise<unknown> {
  const [first, ...further] = settlements as readonly [Settlement, ...Settlement[]];
  const redisKeys = keysOfBucket(first.bucket);
  const keys = {
    account: redisKeys.account(first.accountId),
    key: redisKeys.key(first.keyId),
    holds: redisKeys.holds,
    renewals: redisKeys.renewals,
    ledger: redisKeys.ledger,
    done: redisKeys.done(first.requestId),
  };
  const args = {
    payer: encodePayer(first),
    request_id: first.requestId,
    actual_micros: first.actualMicros,
    first_tried_ms: first.firstTriedMs,
    usage: first.usage,
  };
  return script.call(connection, keys, args, further.map(listEach));
}

function listEach({ requestId, actualMicros, firstTriedMs, usage }: Settlement) {
  return {
    request_id: requestId,
    actual_micros: actualMicros,
    first_tried_ms: firstTriedMs,
    usage,
  };
}

function readReply(reply: unknown, index: number): SettleReply {
  const [kind, chargedMicros = 0, shortMicros = 0, balanceMicros = 0] = replyOf(reply, index) as [
    kind: SettleReply['kind'],
    ...amounts: number[],
  ];
  if (kind === 'too_old') return { kind };
  if (kind === 'repeated') return { kind, chargedMicros };
  return { kind, chargedMicros, shortMicros, balanceMicros };
}
