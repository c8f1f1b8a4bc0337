import type { SharedLimits } from '../../../protocol/rates/shared-limits.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import { loadLuaScript } from '../../../redis/lua-script.ts';
import { keysOfBucket } from '../../keys-of-bucket.ts';
import { decodeLimitUses, decodeRate } from '../words/decode-limit-uses.ts';
import { encodePlans } from '../words/encode-plans.ts';
import type { RateRules } from './describe-key.ts';

interface AccountQuestion extends RateRules {
  readonly bucket: number;
  readonly accountId: string;
  /** Empty for the account alone. */
  readonly groupId: string;
}

const script = loadLuaScript(
  new URL('./describe-account.lua', import.meta.url),
  ['account', 'whole'],
  ['prefix', 'account_id', 'group_id', 'plans'],
);

const FIXED_VALUES = 5;

/** Reports what is left of the limits of an account or a group, without using any of them up. */
export async function describeAccount(
  connection: Pick<RedisConnection, 'send'>,
  { bucket, accountId, groupId, windowMs, plans }: AccountQuestion,
): Promise<SharedLimits> {
  const redisKeys = keysOfBucket(bucket);
  const reply = (await script.call(
    connection,
    { account: redisKeys.account(accountId), whole: redisKeys.whole },
    {
      prefix: redisKeys.prefix,
      account_id: accountId,
      group_id: groupId,
      // Asking warns nobody.
      plans: encodePlans(plans, windowMs, 1),
    },
  )) as readonly (string | number)[];
  return {
    nowMs: Number(reply[1]),
    windowMs,
    rate: decodeRate(reply.slice(2)),
    limits: decodeLimitUses(reply.slice(FIXED_VALUES)),
  };
}
