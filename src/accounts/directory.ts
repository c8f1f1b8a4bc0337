import { bucketOfAccount } from '../keys/account-id.ts';
import { bucketOfKey } from '../keys/api-key.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { RandomBytes } from '../lib/units/base62.ts';
import { describeAccount } from '../quota/scripts/describing/describe-account.ts';
import { describeKey, type RateRules } from '../quota/scripts/describing/describe-key.ts';
import type { Warnings } from '../quota/scripts/warnings.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { type AccountDirectory, createAccountDirectory } from './account-directory.ts';
import type { CountReplicas } from './count-replicas.ts';
import type { Group } from './group.ts';
import { createGroupDirectory, type GroupDirectory } from './group-directory.ts';
import type { Key } from './key.ts';
import { createKeyDirectory, type KeyDirectory } from './key-directory.ts';
import type { RepeatWrites } from './recent-writes.ts';
import { createRecordStore } from './record-store.ts';
import { createWriter } from './writer.ts';

/**
 * Accounts, keys and credits, for those who manage them. Throws `DirectoryError` for every expected
 * refusal.
 */
export interface Directory extends AccountDirectory, GroupDirectory, KeyDirectory {
  /**
   * The limits of a key and what is left of them, under these rules; also those of the end user
   * whose digest is given. Uses none of them up.
   */
  describeKey(
    key: Pick<Key, 'id' | 'accountId'>,
    rules: RateRules,
    endUser?: string,
  ): ReturnType<typeof describeKey>;
  /** The limits that all keys of an account or a group meet, in the same way. */
  describeAccount(id: string, rules: RateRules): ReturnType<typeof describeAccount>;
  describeGroup(
    group: Pick<Group, 'id' | 'accountId'>,
    rules: RateRules,
  ): ReturnType<typeof describeAccount>;
  /** Called after a change of masters, which may have lost the last writes. Safe at any time. */
  replayRecentWrites: RepeatWrites;
}

interface DirectoryOptions {
  readonly connection: RedisConnection;
  readonly countReplicas: CountReplicas;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  /**
   * The clock for what a failover may lose. Defaults to `clock`, for where nobody watches the
   * masters.
   */
  readonly masterClock?: Clock;
  /** When a balance counts as low, by the settings in use. */
  readonly warnings: () => Warnings;
  readonly digestKey: (key: string) => string;
}

export function createDirectory(options: DirectoryOptions): Directory {
  const { connection, countReplicas, clock, warnings } = options;
  const store = createRecordStore(connection);
  const masterClock = options.masterClock ?? clock;
  const writer = createWriter(connection, store, { clock: masterClock, warnings, countReplicas });
  const parts = { ...options, store, writer };
  const groups = createGroupDirectory(parts);
  const accounts = createAccountDirectory(parts);
  const describeShared = (accountId: string, groupId: string, rules: RateRules) => {
    const bucket = bucketOfAccount(accountId);
    assert(bucket !== undefined, 'the id of an account that was read leads to its bucket');
    const question = { bucket, accountId, groupId, ...rules };
    return store.read(() => describeAccount(connection, question));
  };
  return {
    ...accounts,
    ...groups,
    ...createKeyDirectory(parts, groups),
    describeKey({ id, accountId }, rules, endUser) {
      const bucket = bucketOfKey(id);
      assert(bucket !== undefined, 'the id of a key that was read leads to its bucket');
      const question = { bucket, keyId: id, accountId, endUser, ...rules };
      return store.read(() => describeKey(connection, question));
    },
    async describeAccount(id, rules) {
      await accounts.getAccount(id);
      return await describeShared(id, '', rules);
    },
    describeGroup: ({ id, accountId }, rules) => describeShared(accountId, id, rules),
    replayRecentWrites: writer.replayRecentWrites,
  };
}
