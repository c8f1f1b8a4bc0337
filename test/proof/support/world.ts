import { mintAccountId } from '../../../src/keys/account-id.ts';
import { mintKeyId } from '../../../src/keys/api-key.ts';
import { digestKey } from '../../../src/keys/digest-key.ts';
import { mintGroupId } from '../../../src/keys/group-id.ts';
import {
  encodeKeyBounds,
  type KeyBounds,
  NO_KEY_BOUNDS,
} from '../../../src/limits/encode-key-bounds.ts';
import { encodeLimits } from '../../../src/limits/encode-limits.ts';
import { LIMIT_UNITS, type Limit } from '../../../src/limits/limit.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { credit } from '../../../src/quota/scripts/credit.ts';
import { writeRecord } from '../../../src/quota/scripts/write-record.ts';
import type { RedisConnection } from '../../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
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
 *   limited  its lists of limits are low, change their amounts, and its balance does not matter
 */
export type AccountKind =
  | 'tight'
  | 'forced'
  | 'lowered'
  | 'lossy'
  | 'huge'
  | 'shut'
  | 'rated'
  | 'limited';

export interface ProofKey {
  readonly keyId: string;
  readonly digest: string;
  /** Micros per month at the start. */
  readonly cap: number | undefined;
  /** 0 means no limit. */
  readonly rpm: number;
  readonly inFlightMax: number | undefined;
  readonly bounds?: KeyBounds;
}

export interface ProofGroup {
  readonly groupId: string;
  readonly bounds: KeyBounds;
}

export interface ProofAccount {
  readonly accountId: string;
  readonly bucket: number;
  readonly kind: AccountKind;
  readonly plan: string;
  readonly balance: number;
  readonly keys: readonly ProofKey[];
  readonly limits?: readonly Limit[];
  readonly groups?: readonly ProofGroup[];
}

/** Amounts of an account are multiples of this unit, plus an odd rest. */
export function unitOf({ kind }: ProofAccount): number {
  return kind === 'huge' ? 1e12 : 1;
}

export const BUCKETS_USED = [7, 201];

const MONEY_KINDS = ['tight', 'tight', 'forced', 'lowered', 'lossy', 'huge', 'shut'] as const;
const RATE_PLANS = ['starter', 'pro', 'business'];

export function createKey(bucket: number, random: Random, more: Partial<ProofKey>): ProofKey {
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

/** Limits of every unit in windows of every kind, with room for all. */
const FAILOVER_LIMITS: readonly Limit[] = LIMIT_UNITS.flatMap((unit) =>
  ([3_600_000, 'day', 'month'] as const).map((window, index) => {
    return { unit, window, amount: 1e12, action: index === 2 ? 'warn' : 'block' };
  }),
);

export function createFailoverWorld(random: Random): ProofAccount[] {
  return FAILOVER_BUCKETS.map((bucket) => {
    const groupId = mintGroupId(bucket, random.bytes);
    const bounds = { ...NO_KEY_BOUNDS, limits: FAILOVER_LIMITS, userLimits: FAILOVER_LIMITS };
    return {
      ...{ accountId: mintAccountId(bucket, random.bytes), bucket, kind: 'rated' },
      ...{ plan: 'team', balance: 1e12, limits: FAILOVER_LIMITS },
      groups: [{ groupId, bounds: { ...NO_KEY_BOUNDS, limits: FAILOVER_LIMITS } }],
      keys: [createKey(bucket, random, { bounds: { ...bounds, groupId } })],
    };
  });
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
  for (const { accountId, bucket, plan, balance, keys, limits = [], groups = [] } of world) {
    const redisKeys = keysOfBucket(bucket);
    await writeRecord(connection, {
      ...once,
      subject: 'account',
      id: accountId,
      record: redisKeys.account(accountId),
      index: redisKeys.accounts,
      fields: { status: 'active', plan, limits: encodeLimits(limits) },
    });
    for (const { groupId, bounds } of groups) {
      await writeRecord(connection, {
        ...once,
        subject: 'group',
        id: groupId,
        record: redisKeys.group(groupId),
        index: redisKeys.groupsOf(accountId),
        fields: { account: accountId, limits: encodeKeyBounds(bounds) },
      });
    }
    const payment = { kind: 'topup', isForced: false, note: '' } as const;
    await credit(
      connection,
      {
        ...payment,
        bucket,
        accountId,
        paymentId: 'first',
        micros: balance,
      },
      DEFAULT_WARNINGS,
    );
    for (const { keyId, digest, cap, rpm, inFlightMax, bounds } of keys) {
      await writeRecord(connection, {
        ...once,
        subject: 'key',
        id: keyId,
        record: redisKeys.key(keyId),
        index: redisKeys.keysOf(accountId),
        fields: {
          ...{ status: 'active', account: accountId, digest, rpm: String(rpm) },
          ...optionalFields({ cap, in_flight_max: inFlightMax }),
          ...(bounds !== undefined && { limits: encodeKeyBounds(bounds) }),
        },
      });
    }
  }
}
