import type { Books } from '../engine/books.ts';

/** Names of accounts and keys by their ids, whose forms differ; null where the books have none. */
export type FindName = (id: string | null) => string | null;

/** In one list; the engines have bounds. */
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
  const names = new Map<string, string>();
  const add = (found: readonly { readonly id: string; readonly name: string }[]) => {
    for (const { id, name } of found) if (name !== '') names.set(id, name);
  };
  for (const ids of divide(accounts)) {
    const asked = db.selectFrom('account_names').select(['account as id', 'name']);
    add(await asked.where('account', 'in', ids).execute());
  }
  for (const ids of divide(keys)) {
    const asked = db.selectFrom('key_names').select(['key as id', 'name']);
    add(await asked.where('key', 'in', ids).execute());
  }
  return (id) => (id === null ? null : (names.get(id) ?? null));
}

function* divide(ids: ReadonlySet<string>): Generator<readonly string[]> {
  const all = [...ids];
  for (let first = 0; first < all.length; first += IDS_AT_ONCE) {
    yield all.slice(first, first + IDS_AT_ONCE);
  }
}
