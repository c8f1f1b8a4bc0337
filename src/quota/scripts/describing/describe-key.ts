import type { PlanLimits } from '../../../protocol/admission.ts';
import type { KeyInfo } from '../../../protocol/key-info.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';
import { decodeLimitUses, decodeRate } from '../words/decode-limit-uses.ts';
import { encodePlans } from '../words/encode-plans.ts';

/** What the settings say about rate limits. */
export interface RateRules {
  readonly windowMs: number;
  readonly plans: PlanLimits;
}

interface KeyQuestion extends RateRules {
  readonly bucket: number;
  readonly keyId: string;
  readonly accountId: string;
  /** The digest of an end user whose limits are to be reported as well. */
  readonly endUser?: string | undefined;
}

const script = loadLuaScript(
  new URL('./describe.lua', import.meta.url),
  ['key', 'whole'],
  ['prefix', 'key_id', 'account_id', 'user', 'plans'],
);

const FIXED_VALUES = 18;

/** Reports the limits of a key and what is left of them, without using any of them up. */
export async function describeKey(
  connection: Pick<RedisConnection, 'send'>,
  { bucket, keyId, accountId, endUser, windowMs, plans }: KeyQuestion,
): Promise<KeyInfo> {
  const redisKeys = keysOfBucket(bucket);
  const reply = (await script.call(
    connection,
    { key: redisKeys.key(keyId), whole: redisKeys.whole },
    {
      prefix: redisKeys.prefix,
      key_id: keyId,
      account_id: accountId,
      user: endUser === undefined ? '' : `${endUser}|`,
      // Asking warns nobody.
      plans: encodePlans(plans, windowMs, 1),
    },
  )) as readonly (string | number)[];
  const number = (index: number) => Number(reply[index] ?? 0);
  const numberIfAny = (index: number) => (reply[index] === '' ? undefined : number(index));
  const rateAt = (index: number) => decodeRate(reply.slice(index));
  const models = String(reply[10]).split(',');
  return {
    keyId,
    accountId,
    nowMs: number(1),
    month: String(reply[2]),
    windowMs,
    keyRate: number(3) === 0 ? undefined : rateAt(3),
    accountRate: rateAt(6),
    expiresMs: numberIfAny(9),
    models: reply[10] === '' ? undefined : models.filter((name) => name !== ''),
    inFlight: number(11),
    inFlightMax: numberIfAny(12),
    capMicros: numberIfAny(13),
    spentMicros: number(14),
    heldMicros: number(15),
    balanceMicros: number(16),
    accountHeldMicros: number(17),
    limits: decodeLimitUses(reply.slice(FIXED_VALUES)),
  };
}
