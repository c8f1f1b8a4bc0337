import type { Config } from '../config/config.ts';
import type { Steps } from '../gateway/steps.ts';
import { createUnpaidBodyGuard } from '../guards/unpaid-body-guard.ts';
import type { KeyCheck } from '../keys/key-check.ts';
import type { ApiKey, PlanLimits } from '../protocol/admission.ts';
import type { AskStore } from '../quota/ask-store.ts';
import { describeKey } from '../quota/scripts/describing/describe-key.ts';
import { identify } from '../quota/scripts/identify.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { createAdmitFree } from './create-admit-free.ts';
import { createProveKey } from './prove-key.ts';

/** For each account in each worker. Reading that much takes a core a few seconds. */
const UNPAID_BYTES_PER_MINUTE_MAX = 1024 ** 3;
/** The same, in the largest bodies that the settings allow. */
const UNPAID_BODIES_PER_MINUTE_MAX = 32;

interface FreeCallsOptions {
  readonly config: Config;
  /** The limits that hold at this moment. */
  readonly plans: () => PlanLimits;
  readonly connection: RedisConnection;
  readonly askStore: AskStore;
  readonly keyCheck: KeyCheck;
}

/** The requests of a key that cost nothing, and those that are refused. */
export function createFreeCalls(
  options: FreeCallsOptions,
): Pick<Steps, 'prove' | 'unpaidBodies' | 'admitFree' | 'describeKey'> {
  const { config, plans, connection, askStore, keyCheck } = options;
  const { guards, limits } = config;
  const prove = createProveKey({
    askStore,
    identify: (key) => identify(connection, key),
    keyCheck,
  });
  const admitFree = createAdmitFree(prove, guards);
  const bytesPerMinuteMax = Math.min(
    UNPAID_BYTES_PER_MINUTE_MAX,
    UNPAID_BODIES_PER_MINUTE_MAX * limits.bodyBytesMax,
  );
  return {
    prove,
    unpaidBodies: createUnpaidBodyGuard({ bytesPerMinuteMax }),
    admitFree,
    async describeKey(key: ApiKey) {
      const { accountId } = await admitFree(key);
      const { bucket, keyId } = key;
      const rules = { windowMs: limits.rateWindowMs, plans: plans() };
      const question = { bucket, keyId, accountId, ...rules };
      return askStore(bucket, () => describeKey(connection, question));
    },
  };
}
