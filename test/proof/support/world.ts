import { mintAccountId } from '../../../src/keys/account-id.ts';
import { mintKeyId } from '../../../src/keys/api-key.ts';
import { digestKey } from '../../../src/keys/digest-key.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { credit } from '../../../src/quota/scripts/credit.ts';
import { keyset } from '../../../src/quota/scripts/keyset.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import type { Random } from './random.ts';

/**
 * What happens to an account, besides requests and payments:
 *   tight    nothing: its balance and its caps are always nearly exhausted
 *   forced   chargebacks, so its balance may fall below its holds
 *   lowered  its caps are lowered, so its spending may exceed them
 *   lossy    its holds vanish, as in a failover
 *   huge     its amounts are near the largest balance
 *   shut     its keys are revoked and it is suspended, for a while at a time
 *   rated    its rate limits are low and its balance does not matter
 */
export type AccountKind = 'tight' | 'forced' | 'lowered' | 'lossy' | 'huge' | 'shut' | 'rated';

export interface ProofKey {
  readonly keyId: string;
  readonly digest: string;
  /** Micros per month at the start. */
  readonly cap: number | undefined;
  /** 0 means no limit. */
  readonly rpm: number;
  readonly inFlightMax: number | undefined;
}

export interface ProofAccount {
  readonly accountId: string;
  readonly bucket: number;
  readonly kind: AccountKind;
  readonly plan: string;
  readonly balance: number;
  readonly keys: readonly ProofKey[];
}

/** Amounts of an account are multiples of this unit, plus an odd rest. */
export function unitOf({ kind }: ProofAccount): number {
  return kind === 'huge' ? 1e12 : 1;
}

export const BUCKETS_USED = [7, 201];

const MONEY_KINDS = ['tight', 'tight', 'forced', 'lowered', 'lossy', 'huge', 'shut'] as const;
const RATE_PLANS = ['starter', 'pro', 'business'];

function createKey(bucket: number, random: Random, more: Partial<ProofKey>): ProofKey {
  const keyId = mintKeyId(bucket, random.bytes);
  const digest = digestKey(`secret of ${keyId}`);
  return { keyId, digest, cap: undefined, rpm: 0, inFlightMax: undefined, ...more };
}

export function createMoneyWorld(random: Random): ProofAccount[] {
  return BUCKETS_USED.flatMap((bucket) =>
    MONEY_KINDS.map((kind) => {
      const unit = kind === 'huge' ? 1e12 : 1;
      const inFlightMax = kind === 'tight' ? 4 : undefined;
      return {
        accountId: mintAccountId(bucket, random.bytes),
        bucket,
        kind,
        plan: 'team',
        balance: 5_000 * unit,
        keys: [
          createKey(bucket, random, { cap: 3_000 * unit, inFlightMax }),
          createKey(bucket, random, { cap: 1_500 * unit }),
          createKey(bucket, random, {}),
        ],
      };
    }),
  );
}

export function createRateWorld(random: Random): ProofAccount[] {
  return BUCKETS_USED.flatMap((bucket) =>
    RATE_PLANS.map((plan) => ({
      accountId: mintAccountId(bucket, random.bytes),
      bucket,
      kind: 'rated' as const,
      plan,
      balance: 1e12,
      keys: [
        ...[0, 9, 14, 60].map((rpm) => createKey(bucket, random, { rpm })),
        // This key soon hits its cap. Those refusals must not count against the account's rate
        // limit.
        createKey(bucket, random, { cap: 30 }),
      ],
    })),
  );
}

/** Buckets on different nodes of a Cluster. */
const FAILOVER_BUCKETS = [3, 45, 90, 130, 175, 250];

export function createFailoverWorld(random: Random): ProofAccount[] {
  return FAILOVER_BUCKETS.map((bucket) => ({
    accountId: mintAccountId(bucket, random.bytes),
    bucket,
    kind: 'rated',
    plan: 'team',
    balance: 1e12,
    keys: [createKey(bucket, random, {})],
  }));
}

function optionalFields(fields: Readonly<Record<string, number | undefined>>) {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value.toFixed(0)]],
    ),
  );
}

/** Writes the accounts with the same scripts as the gateway. */
export async function writeWorld(
  connection: Pick<RedisConnection, 'send'>,
  world: readonly ProofAccount[],
): Promise<void> {
  const once = { expected: 'new', writeId: 'first', overlapMs: undefined };
  for (const { accountId, bucket, plan, balance, keys } of world) {
    const redisKeys = keysOfBucket(bucket);
    await keyset(connection, {
      ...once,
      subject: 'account',
      id: accountId,
      record: redisKeys.account(accountId),
      index: redisKeys.accounts,
      fields: { status: 'active', plan },
    });
    const payment = { kind: 'topup', isForced: false, note: '' } as const;
    await credit(connection, {
      ...payment,
      bucket,
      accountId,
      paymentId: 'first',
      micros: balance,
    });
    for (const { keyId, digest, cap, rpm, inFlightMax } of keys) {
      await keyset(connection, {
        ...once,
        subject: 'key',
        id: keyId,
        record: redisKeys.key(keyId),
        index: redisKeys.keysOf(accountId),
        fields: {
          ...{ status: 'active', account: accountId, digest, rpm: String(rpm) },
          ...optionalFields({ cap, in_flight_max: inFlightMax }),
        },
      });
    }
  }
}
