import { ACCOUNT_FIELDS, decodeAccount } from '../../../accounts/account.ts';
import { decodeKey, keyFields } from '../../../accounts/key.ts';
import type { Texts } from '../../../accounts/record-store.ts';
import { bucketOfAccount } from '../../../keys/account-id.ts';
import { bucketOfKey } from '../../../keys/api-key.ts';
import { keysOfBucket } from '../../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import type { AccountNameRow, KeyNameRow } from '../../engine/tables.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** How many reads are under way at once. */
const READS_AT_ONCE = 64;
/** What a key has spent is of no interest here. */
const KEY_FIELDS = keyFields('');

/** Reads the records of accounts, as far as they exist. */
export async function readAccountNames(
  connection: Connection,
  ids: readonly string[],
): Promise<AccountNameRow[]> {
  return await readEach(ids, async (id) => {
    const bucket = bucketOfAccount(id);
    if (bucket === undefined) return undefined;
    const texts = await readRecord(connection, keysOfBucket(bucket).account(id), ACCOUNT_FIELDS);
    if (texts === undefined) return undefined;
    const { name, plan, status, createdMs } = decodeAccount(id, texts);
    const row = { name: clean(name), plan: clean(plan), status: clean(status) };
    return { account: id, bucket, ...row, created_ms: asMs(createdMs) };
  });
}

/** Reads the records of keys, as far as they exist. */
export async function readKeyNames(
  connection: Connection,
  ids: readonly string[],
): Promise<KeyNameRow[]> {
  return await readEach(ids, async (id) => {
    const bucket = bucketOfKey(id);
    if (bucket === undefined) return undefined;
    const texts = await readRecord(connection, keysOfBucket(bucket).key(id), KEY_FIELDS);
    if (texts === undefined) return undefined;
    const { accountId, name, last4, status } = decodeKey(id, texts, '');
    return { key: id, account: clean(accountId), name: clean(name), last4: clean(last4), status };
  });
}

/** The ids of the keys of some accounts. */
export async function listKeyIds(
  connection: Connection,
  accountIds: readonly string[],
): Promise<string[]> {
  const sets = await readEach(accountIds, async (id) => {
    const bucket = bucketOfAccount(id);
    if (bucket === undefined) return undefined;
    return (await connection.send('smembers', [keysOfBucket(bucket).keysOf(id)])) as string[];
  });
  return sets.flat();
}

async function readRecord(
  connection: Connection,
  record: string,
  fields: readonly string[],
): Promise<Texts | undefined> {
  const values = (await connection.send('hmget', [record, ...fields])) as (string | null)[];
  const found = fields.flatMap((field, i) => {
    const value = values[i];
    return typeof value === 'string' ? [[field, value] as const] : [];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

async function readEach<Row>(
  ids: readonly string[],
  read: (id: string) => Promise<Row | undefined>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let first = 0; first < ids.length; first += READS_AT_ONCE) {
    const found = await Promise.all(ids.slice(first, first + READS_AT_ONCE).map(read));
    for (const row of found) if (row !== undefined) rows.push(row);
  }
  return rows;
}

/** Postgres takes no zero bytes in a text. */
function clean(text: string): string {
  return text.replaceAll('\0', '');
}

function asMs(ms: number): number {
  return Number.isSafeInteger(ms) ? ms : 0;
}
