import { api } from '../../api/api.ts';
import type { AccountList } from '../../api/api-types.ts';

const PAGE = 50;
/**
 * Each page covers a few thousand accounts. After this many empty pages the reader has to ask for
 * more.
 */
const EMPTY_PAGES_MAX = 20;

/** Returns the next accounts that match, even if they are far apart. */
export async function searchAccounts(
  search: string,
  after: string | undefined,
  signal: AbortSignal,
): Promise<AccountList> {
  let page = await api.listAccounts({ after, search, limit: PAGE }, signal);
  for (let pages = 1; page.data.length === 0 && page.next !== null; pages += 1) {
    if (pages === EMPTY_PAGES_MAX) return page;
    page = await api.listAccounts({ after: page.next, search, limit: PAGE }, signal);
  }
  return page;
}
