import { api } from '../../api/api.ts';
import type { AccountList } from '../../api/api-types.ts';

const PAGE = 50;
/** Each looks at a few thousand accounts: so many may find nothing before the reader has to ask for more. */
const EMPTY_PAGES_MAX = 20;

/** The next accounts that match, also where there are long ways between them. */
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
