import type { Books } from '../engine/books.ts';

interface KeyFilter {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
}

/** Finds the account of a key, so that the rows of others need not be read. */
export async function addAccountOfKey<Query extends KeyFilter>(
  { db }: Pick<Books, 'db'>,
  query: Query,
): Promise<Query> {
  if (query.key === undefined || query.account !== undefined) return query;
  const found = await db
    .selectFrom('key_names')
    .select('account')
    .where('key', '=', query.key)
    .executeTakeFirst();
  return found === undefined ? query : { ...query, account: found.account };
}
