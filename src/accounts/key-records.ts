import { bucketOfAccount } from '../keys/account-id.ts';
import { bucketOfKey, lastFourOf, parseApiKey } from '../keys/api-key.ts';
import { assert } from '../lib/assert.ts';
import type { Clock } from '../lib/time/clock.ts';
import { monthOf } from '../lib/time/month.ts';
import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import { keysOfBucket } from '../quota/keys-of-bucket.ts';
import type { RecordWrite } from '../quota/scripts/write-record.ts';
import { changeRecord, type RecordChange, WRITE_ID_CHARS } from './change-record.ts';
import { refuseMissingKey } from './directory-error.ts';
import { decodeKey, encodeControls, type Key, type KeyControls, keyFields } from './key.ts';
import type { RecordStore, Texts } from './record-store.ts';
import type { Writer } from './writer.ts';

export interface KeyRecordsOptions {
  readonly store: RecordStore;
  readonly writer: Writer;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  readonly digestKey: (key: string) => string;
}

/** Reads and writes the record of a key as a whole. */
export interface KeyRecords {
  read(id: string): Promise<Key>;
  /** Leaves an existing record as it is. */
  create(
    accountId: string,
    key: string,
    controls: KeyControls,
  ): Promise<{ readonly record: Key; readonly isNew: boolean; readonly replicated: number }>;
  change(
    id: string,
    prepare: (before: Key) => Pick<RecordWrite, 'fields' | 'overlapMs'>,
    baseVersion?: number,
  ): Promise<RecordChange<Key>>;
  /** The fields that follow from the text of a key. */
  secretFields(key: string): Texts;
}

export function createKeyRecords(options: KeyRecordsOptions): KeyRecords {
  const { store, writer, randomBytes, clock, digestKey } = options;

  const readTexts = async (id: string, month: string): Promise<Texts> => {
    const texts = await store.readRecord(recordOf(id), keyFields(month));
    if (texts === undefined) throw refuseMissingKey(id);
    return texts;
  };

  const read: KeyRecords['read'] = async (id) => {
    const month = monthOf(clock.nowMs());
    return decodeKey(id, await readTexts(id, month), month);
  };

  const secretFields = (key: string) => ({ digest: digestKey(key), last4: lastFourOf(key) });

  return {
    read,
    secretFields,
    async create(accountId, key, controls) {
      const parsed = parseApiKey(key);
      assert(parsed !== undefined, 'the text of a new key is well-formed');
      const { keyId: id, bucket } = parsed;
      assert(bucketOfAccount(accountId) === bucket, 'a key is in the bucket of its account');
      const nowMs = clock.nowMs();
      const fields = {
        ...{ status: 'active', account: accountId, created: String(nowMs) },
        ...secretFields(key),
        ...encodeControls(controls),
      };
      const reply = await writer.writeRecord({
        subject: 'key',
        id,
        record: recordOf(id),
        index: keysOfBucket(bucket).keysOf(accountId),
        writeId: randomBase62(WRITE_ID_CHARS, randomBytes),
        expected: 'new',
        overlapMs: undefined,
        fields,
      });
      assert(reply.kind !== 'missing', 'a new record needs none before it');
      const texts = { ...fields, version: String(reply.version) };
      return {
        record: decodeKey(id, texts, monthOf(nowMs)),
        isNew: reply.kind === 'written',
        replicated: reply.replicated,
      };
    },
    async change(id, prepare, baseVersion) {
      const month = monthOf(clock.nowMs());
      return await changeRecord({
        read: () => readTexts(id, month),
        decode: (texts) => decodeKey(id, texts, month),
        indexOf: ({ accountId }) => keysOfBucket(bucketOf(id)).keysOf(accountId),
        prepare,
        subject: 'key',
        id,
        record: recordOf(id),
        writer,
        randomBytes,
        baseVersion,
      });
    },
  };
}

function bucketOf(id: string): number {
  const bucket = bucketOfKey(id);
  if (bucket === undefined) throw refuseMissingKey(id);
  return bucket;
}

function recordOf(id: string): string {
  return keysOfBucket(bucketOf(id)).key(id);
}
