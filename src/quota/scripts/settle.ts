import { assert } from '../../lib/assert.ts';
import { isOfSameMinute } from '../../lib/request-id.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { createGatherer } from '../../redis/create-gatherer.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { assertAmount } from '../assert-amount.ts';
import { keysOfBucket } from '../keys-of-bucket.ts';
import type { Settlement } from '../settlement/settlement.ts';
import type { Warnings } from './warnings.ts';
import { encodePayer } from './words/encode-payer.ts';
import { replyOf } from './words/reply-of.ts';

type Connection = Pick<RedisConnection, 'send'>;

export type SettleReply =
  | {
      readonly kind: 'charge' | 'release' | 'late' | 'orphan';
      readonly chargedMicros: number;
      /** The part of the cost that the cap and the balance did not allow to charge. */
      readonly shortMicros: number;
      readonly balanceMicros: number;
    }
  | { readonly kind: 'repeated'; readonly chargedMicros: number }
  | { readonly kind: 'too_old' };

const script = loadLuaScript(
  new URL('./settle.lua', import.meta.url),
  ['holds', 'whole'],
  ['warn_at', 'low_micros'],
  ['who', 'request_id', 'actual_micros', 'last_known_ms', 'usage', 'extras'],
);

/** Ends the hold of a request and charges its cost, once, however often it is called. */
export async function settle(
  connection: Connection,
  settlement: Settlement,
  warnings: Warnings,
): Promise<SettleReply> {
  const each = encodeEach(settlement, true);
  return readReply(await callScript(connection, settlement, [each], warnings), 0);
}

/** The same for many settlements: those that come together share runs of the script. */
export function createGatheredSettle(
  connection: Pick<RedisConnection, 'send' | 'atTurnEnd' | 'isCluster'>,
  warnings: Warnings,
): (settlement: Settlement) => Promise<SettleReply> {
  const { isCluster } = connection;
  return createGatherer<Settlement, Each, SettleReply>({
    connection,
    canShare: (first, settlement) => !isCluster || first.bucket === settlement.bucket,
    isAlike: (first, settlement) =>
      first.keyId === settlement.keyId &&
      first.model === settlement.model &&
      first.month === settlement.month &&
      first.accountId === settlement.accountId &&
      first.bucket === settlement.bucket &&
      isOfSameMinute(first.requestId, settlement.requestId),
    encode: encodeEach,
    runScript: (first, encoded) => callScript(connection, first, encoded, warnings),
    readReply,
  });
}

interface Each {
  readonly who: string;
  readonly request_id: string;
  readonly actual_micros: number;
  readonly last_known_ms: number;
  readonly usage: Buffer;
  readonly extras: string;
}

function encodeEach(settlement: Settlement, isFirst: boolean): Each {
  const { requestId, actualMicros, lastKnownMs, usage, extras } = settlement;
  assertAmount(actualMicros);
  assertAmount(lastKnownMs);
  return {
    who: isFirst ? encodeWho(settlement) : '',
    request_id: requestId,
    actual_micros: actualMicros,
    last_known_ms: lastKnownMs,
    usage,
    extras,
  };
}

function encodeWho(settlement: Settlement): string {
  const { bucket, accountId, keyId } = settlement;
  return `${keysOfBucket(bucket).prefix}\0${accountId}\0${keyId}\0${encodePayer(settlement)}\0`;
}

function callScript(
  connection: Connection,
  { bucket }: Settlement,
  encoded: readonly Each[],
  { atShare, lowBalanceMicros }: Warnings,
): Promise<unknown> {
  const [first, ...further] = encoded as readonly [Each, ...Each[]];
  const { holds, whole } = keysOfBucket(bucket);
  const keys = { holds, whole };
  const args = {
    warn_at: String(atShare),
    low_micros: lowBalanceMicros,
    who: first.who,
    request_id: first.request_id,
    actual_micros: first.actual_micros,
    last_known_ms: first.last_known_ms,
    usage: first.usage,
    extras: first.extras,
  };
  return script.call(connection, keys, args, further);
}

function readReply(reply: unknown, index: number): SettleReply {
  const [kind, chargedMicros = 0, shortMicros = 0, balanceMicros = 0] = replyOf(reply, index) as [
    kind: SettleReply['kind'] | 'invalid',
    ...amounts: number[],
  ];
  if (kind === 'invalid') assert(false, 'settle.lua takes the amounts that it is given');
  if (kind === 'too_old') return { kind };
  if (kind === 'repeated') return { kind, chargedMicros };
  return { kind, chargedMicros, shortMicros, balanceMicros };
}
