import { bucketOfAccount } from '../keys/account-id.ts';
import { bucketOfGroup, mintGroupId } from '../keys/group-id.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import { NO_KEY_BOUNDS } from '../limits/encode-key-bounds.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import { changeRecord, type RecordChange, WRITE_ID_CHARS } from './change-record.ts';
import { DirectoryError, refuseMissingAccount } from './directory-error.ts';
import {
  decodeGroup,
  encodeGroupControls,
  GROUP_FIELDS,
  type Group,
  type GroupControls,
} from './group.ts';
import { type RecordStore, readEach, type Texts } from './record-store.ts';
import type { Writer } from './writer.ts';

/** All groups of an account are listed at once. */
const GROUPS_PER_ACCOUNT_MAX = 1_000;

export interface GroupDirectory {
  createGroup(accountId: string, controls: GroupControls): Promise<Group>;
  patchGroup(
    id: string,
    controls: GroupControls,
    baseVersion?: number,
  ): Promise<RecordChange<Group>>;
  getGroup(id: string): Promise<Group>;
  /** Lists the groups of an account, the oldest first. */
  listGroups(accountId: string): Promise<readonly Group[]>;
}

interface GroupDirectoryOptions {
  readonly store: RecordStore;
  readonly writer: Writer;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
}

export function createGroupDirectory(options: GroupDirectoryOptions): GroupDirectory {
  const { store, writer, randomBytes, clock } = options;

  const readTexts = async (id: string): Promise<Texts> => {
    const texts = await store.readRecord(placeOf(id).record, GROUP_FIELDS);
    if (texts === undefined) throw refuseMissingGroup(id);
    return texts;
  };
  const read = async (id: string) => decodeGroup(id, await readTexts(id));

  /** The bucket of an account, and the Redis key of the set of its groups. */
  const findAccount = async (accountId: string) => {
    const bucket = bucketOfAccount(accountId);
    if (bucket === undefined) throw refuseMissingAccount(accountId);
    const redisKeys = keysOfBucket(bucket);
    const account = await store.readRecord(redisKeys.account(accountId), ['version']);
    if (account === undefined) throw refuseMissingAccount(accountId);
    return { bucket, index: redisKeys.groupsOf(accountId) };
  };

  return {
    async createGroup(accountId, controls) {
      const { bucket, index } = await findAccount(accountId);
      if ((await store.countSet(index)) >= GROUPS_PER_ACCOUNT_MAX) {
        throw new DirectoryError(
          'too_many_groups',
          `${accountId} has ${GROUPS_PER_ACCOUNT_MAX} groups; it cannot have more`,
        );
      }
      const id = mintGroupId(bucket, randomBytes);
      const created = String(clock.nowMs());
      const fields = {
        ...encodeGroupControls(controls, NO_KEY_BOUNDS),
        ...{ account: accountId, status: 'active', created },
      };
      const reply = await writer.writeRecord({
        ...{ subject: 'group', id, record: placeOf(id).record, index, expected: 'new', fields },
        writeId: randomBase62(WRITE_ID_CHARS, randomBytes),
        overlapMs: undefined,
      });
      assert(reply.kind === 'written', 'a new group has an id of its own');
      return decodeGroup(id, { ...fields, version: String(reply.version) });
    },
    async patchGroup(id, controls, baseVersion) {
      const { redisKeys, record } = placeOf(id);
      return await changeRecord({
        read: () => readTexts(id),
        decode: (texts) => decodeGroup(id, texts),
        indexOf: ({ accountId }) => redisKeys.groupsOf(accountId),
        prepare: (before) => ({
          fields: encodeGroupControls(controls, before),
          overlapMs: undefined,
        }),
        ...{ subject: 'group', id, record, writer, randomBytes, baseVersion },
      });
    },
    getGroup: read,
    async listGroups(accountId) {
      const { index } = await findAccount(accountId);
      const groups = await readEach(await store.readSet(index), read);
      return groups.toSorted((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
    },
  };
}

function placeOf(id: string) {
  const bucket = bucketOfGroup(id);
  if (bucket === undefined) throw refuseMissingGroup(id);
  const redisKeys = keysOfBucket(bucket);
  return { redisKeys, record: redisKeys.group(id) };
}

function refuseMissingGroup(id: string): DirectoryError {
  return new DirectoryError('group_not_found', `there is no group ${id}`);
}
