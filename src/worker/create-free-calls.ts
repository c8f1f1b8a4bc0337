import type { Config } from '../config/config.ts';
import type { Steps } from '../gateway/steps.ts';
import type { KeyCheck } from '../keys/key-check.ts';
import type { ApiKey } from '../protocol/admission.ts';
import type { AskStore } from '../quota/ask-store.ts';
import { describeKey } from '../quota/scripts/describe-key.ts';
import { identify } from '../quota/scripts/identify.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { createIdentify } from './create-identify.ts';

interface FreeCallsOptions {
  readonly config: Config;
  readonly connection: RedisConnection;
  readonly askStore: AskStore;
  readonly keyCheck: KeyCheck;
}

/** The requests of a key that cost nothing. All of them pass through one check. */
export function createFreeCalls(
  options: FreeCallsOptions,
): Pick<Steps, 'identify' | 'describeKey'> {
  const { config, connection, askStore, keyCheck } = options;
  const { plans, guards, limits } = config;
  const enter = createIdentify({
    askStore,
    identify: (key) => identify(connection, key),
    keyCheck,
    guards,
  });
  return {
    identify: enter,
    async describeKey(key: ApiKey) {
      const { accountId } = await enter(key);
      const { bucket, keyId } = key;
      const question = { bucket, keyId, accountId, windowMs: limits.rateWindowMs, plans };
      return askStore(bucket, () => describeKey(connection, question));
    },
  };
}
