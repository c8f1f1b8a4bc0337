import type { Books } from '../../engine/books.ts';
import type { EntriesQuery } from './read-pages.ts';

/**
 * Late entries that are set aside until they have been compared with the archive. Call this
 * before reading the ledger: they may be entered meanwhile.
 */
export async function countDoubtful(
  { db }: Pick<Books, 'db'>,
  { account, key, fromMs, toMs }: EntriesQuery,
): Promise<number> {
  let asked = db.selectFrom('doubtful').select(({ fn }) => fn.countAll<number>().as('count'));
  if (account !== undefined) asked = asked.where('account', '=', account);
  if (key !== undefined) asked = asked.where('key', '=', key);
  if (fromMs !== undefined) asked = asked.where('ms', '>=', fromMs);
  if (toMs !== undefined) asked = asked.where('ms', '<', toMs);
  return (await asked.executeTakeFirstOrThrow()).count;
}
