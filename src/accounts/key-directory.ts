import { bucketOfAccount } from '../keys/account-id.ts';
import { mintApiKey, mintKeyId } from '../keys/api-key.ts';
import { assert } from '../lib/assert.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import type { RecordChange } from './change-record.ts';
import { DirectoryError, refuseMissingAccount } from './directory-error.ts';
import type { GroupDirectory } from './group-directory.ts';
import { encodeControls, type Key, type KeyControls } from './key.ts';
import { createKeyRecords, type KeyRecordsOptions } from './key-records.ts';
import { readEach } from './record-store.ts';

const OVERLAP_MS = 24 * 3_600_000;
export const OVERLAP_MAX_MS = 30 * OVERLAP_MS;
/** All keys of an account are listed at once. */
const KEYS_PER_ACCOUNT_MAX = 10_000;

export interface NewKey {
  /** The text of the key, which is not kept anywhere. */
  readonly key: string;
  readonly record: Key;
  readonly replicated: number;
}

export interface KeyRotation extends RecordChange<Key> {
  readonly key: string;
}

interface RotateOptions {
  readonly overlapMs?: number | undefined;
  /**
   * When the key was last rotated, as the caller believes; null for never. If that is wrong,
   * nothing changes, since no secret survives two rotations.
   */
  readonly baseRotatedMs?: number | null | undefined;
}

export interface KeyDirectory {
  createKey(accountId: string, controls: KeyControls): Promise<NewKey>;
  /** Creates the record of a key whose text exists already, unless the record exists. */
  ensureKey(accountId: string, key: string, controls: KeyControls): Promise<void>;
  patchKey(id: string, controls: KeyControls, baseVersion?: number): Promise<RecordChange<Key>>;
  getKey(id: string): Promise<Key>;
  /** Lists the keys of an account, the oldest first. */
  listKeys(accountId: string): Promise<readonly Key[]>;
  /**
   * Gives the same id a new secret. The old secret stays valid for a while, 24 hours by default.
   */
  rotateKey(id: string, options?: RotateOptions): Promise<KeyRotation>;
  /** Revokes a key for good. A key that is already revoked stays revoked. */
  revokeKey(id: string): Promise<RecordChange<Key>>;
}

export function createKeyDirectory(
  options: KeyRecordsOptions,
  groups: Pick<GroupDirectory, 'getGroup'>,
): KeyDirectory {
  const { store, randomBytes, clock } = options;
  const records = createKeyRecords(options);

  /** The Redis key of the set with the ids of an account's keys. */
  const findKeySet = async (accountId: string) => {
    const redisKeys = keysOfBucket(bucketOfOwner(accountId));
    const owner = await store.readRecord(redisKeys.account(accountId), ['version']);
    if (owner === undefined) throw refuseMissingAccount(accountId);
    return redisKeys.keysOf(accountId);
  };

  /** The script trusts that a key and its group are of one account. */
  const checkGroup = async (accountId: string, { groupId = '' }: KeyControls) => {
    if (groupId === '') return;
    const group = await groups.getGroup(groupId);
    if (group.accountId === accountId) return;
    throw new DirectoryError('group_not_found', `${accountId} has no group ${groupId}`);
  };

  return {
    async createKey(accountId, controls) {
      await checkGroup(accountId, controls);
      if ((await store.countSet(await findKeySet(accountId))) >= KEYS_PER_ACCOUNT_MAX) {
        throw new DirectoryError(
          'too_many_keys',
          `${accountId} has ${KEYS_PER_ACCOUNT_MAX} keys, with those that are revoked; it cannot have more`,
        );
      }
      const key = mintApiKey(mintKeyId(bucketOfOwner(accountId), randomBytes), randomBytes);
      const { record, isNew, replicated } = await records.create(accountId, key, controls);
      assert(isNew, 'a new key has an id of its own');
      return { key, record, replicated };
    },
    async ensureKey(accountId, key, controls) {
      await records.create(accountId, key, controls);
    },
    async patchKey(id, controls, baseVersion) {
      if (controls.groupId !== undefined) {
        await checkGroup((await records.read(id)).accountId, controls);
      }
      const prepare = (before: Key) => {
        refuseRevoked(before);
        return { fields: encodeControls(controls, before), overlapMs: undefined };
      };
      return await records.change(id, prepare, baseVersion);
    },
    getKey: records.read,
    async listKeys(accountId) {
      const ids = await store.readSet(await findKeySet(accountId));
      const keys = await readEach(ids, records.read);
      return keys.toSorted((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
    },
    async rotateKey(id, { overlapMs = OVERLAP_MS, baseRotatedMs } = {}) {
      assert(overlapMs >= 0 && overlapMs <= OVERLAP_MAX_MS, 'the overlap is within its bounds');
      const key = mintApiKey(id, randomBytes);
      const changed = await records.change(id, (before) => {
        refuseRevoked(before);
        if (baseRotatedMs !== undefined) refuseRotated(before, baseRotatedMs ?? undefined);
        // The time distinguishes a rotation from the one before.
        const rotatedMs = Math.max(clock.nowMs(), (before.rotatedMs ?? 0) + 1);
        const fields = { ...records.secretFields(key), rotated: String(rotatedMs) };
        return { fields, overlapMs };
      });
      return { ...changed, key };
    },
    revokeKey: (id) =>
      records.change(id, () => ({ fields: { status: 'revoked' }, overlapMs: undefined })),
  };
}

function bucketOfOwner(accountId: string): number {
  const bucket = bucketOfAccount(accountId);
  if (bucket === undefined) throw refuseMissingAccount(accountId);
  return bucket;
}

function refuseRevoked({ id, status }: Key): void {
  if (status !== 'revoked') return;
  throw new DirectoryError('key_revoked', `the key ${id} is revoked, and that is final`);
}

function refuseRotated({ id, rotatedMs }: Key, baseMs: number | undefined): void {
  if (rotatedMs === baseMs) return;
  const message =
    rotatedMs === undefined
      ? `the key ${id} was never rotated`
      : `the key ${id} was rotated meanwhile, at ${new Date(rotatedMs).toISOString()}; rotating it again ends the secret from before that at once`;
  throw new DirectoryError('key_rotated', message);
}
