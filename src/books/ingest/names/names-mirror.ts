import { BUCKETS } from '../../../keys/bucket-tags.ts';
import type { RedisConnection } from '../../../redis/connect-redis.ts';
import type { Books } from '../../engine/books.ts';
import { listAccounts } from '../../stream/audit-bucket.ts';
import { markDatabaseErrors } from '../database-error.ts';
import { listKeyIds, readAccountNames, readKeyNames } from './read-names.ts';
import { writeNames } from './write-names.ts';

/** Accounts in one portion. Their keys come with them, at most `KEYS_MAX` at once. */
const ACCOUNTS_MAX = 100;
const KEYS_MAX = 500;
/** A portion that finds nothing to read continues with the next bucket, up to this many times. */
const BUCKETS_PER_PORTION = 16;

export interface NamesMirror {
  /** Begins to read all names, unless that is already under way. */
  begin(): void;
  isReading(): boolean;
  /** Reads and writes some names. */
  readPortion(): Promise<void>;
}

/** Copies the names of all accounts and keys from Redis, in portions. */
export function createNamesMirror(
  connection: Pick<RedisConnection, 'send'>,
  books: Books,
): NamesMirror {
  let nextBucket = BUCKETS;
  let accountIds: string[] = [];
  let keyIds: string[] = [];

  const isReading = () => nextBucket < BUCKETS || accountIds.length > 0 || keyIds.length > 0;

  const findAccounts = async () => {
    for (let visited = 0; visited < BUCKETS_PER_PORTION; visited++) {
      if (accountIds.length > 0 || nextBucket >= BUCKETS) return;
      accountIds = await listAccounts(connection, nextBucket);
      nextBucket++;
    }
  };

  return {
    begin() {
      if (!isReading()) nextBucket = 0;
    },
    isReading,
    async readPortion() {
      if (keyIds.length === 0) await findAccounts();
      const someAccounts = keyIds.length === 0 ? accountIds.slice(0, ACCOUNTS_MAX) : [];
      const allKeys = keyIds.length === 0 ? await listKeyIds(connection, someAccounts) : keyIds;
      const accounts = await readAccountNames(connection, someAccounts);
      const keys = await readKeyNames(connection, allKeys.slice(0, KEYS_MAX));
      if (accounts.length > 0 || keys.length > 0) {
        await markDatabaseErrors(
          books.db.transaction().execute((tx) => writeNames(tx, accounts, keys)),
        );
      }
      accountIds = accountIds.slice(someAccounts.length);
      keyIds = allKeys.slice(KEYS_MAX);
    },
  };
}
