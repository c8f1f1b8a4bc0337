import type { Books } from '../engine/books.ts';

/** Names of accounts and keys by their ids, whose forms differ; null where the books have none. */
export type FindName = (id: string | null) => string | null;

/** Ids in one list: the engines have limits. */
const IDS_AT_ONCE = 5_000;

/** Reads all names that an answer needs, at once. */
export async function findNames(
  { db }: Pick<Books, 'db'>,
  rows: Iterable<{ readonly account?: string | null; readonly key?: string | null }>,
): Promise<FindName> {
  const accounts = new Set<string>();
  const keys = new Set<string>();
  for (const { account, key } of rows) {
    if (account) accounts.add(account);
    if (key) keys.add(key);
  }
  const [accountIds, keyIds] = [[...accounts], [...keys]];
  const names = new Map<string, string>();
  for (let first = 0; first < Math.max(accounts.size, keys.size); first += IDS_AT_ONCE) {
    const part = (ids: readonly string[]) => ids.slice(first, first + IDS_AT_ONCE);
    for (const { id, name } of await readNames(db, part(accountIds), part(keyIds))) {
      if (name !== '') names.set(id, name);
    }
  }
  return (id) => (id === null ? null : (names.get(id) ?? null));
}

/** In one query: a page takes as long as its queries, one after the other. */
async function readNames(
  db: Books['db'],
  accountIds: readonly string[],
  keyIds: readonly string[],
): Promise<{ readonly id: string; readonly name: string }[]> {
  const accounts = db
    .selectFrom('account_names')
    .select(['account as id', 'name'])
    .where('account', 'in', accountIds);
  const keys = db.selectFrom('key_names').select(['key as id', 'name']).where('key', 'in', keyIds);
  if (keyIds.length === 0) return accounts.execute();
  if (accountIds.length === 0) return keys.execute();
  return accounts.unionAll(keys).execute();
}
