import { type AccountSlice, findSlice } from '../../engine/account-slices.ts';
import type { Books } from '../../engine/books.ts';
import { yieldTurn } from '../yield-turn.ts';
import type { UsageSegment } from './plan-usage.ts';
import type { UsageFilter, UsageGroup } from './usage-query.ts';

const ACCOUNTS_MAX = 5_000;
const ALL: AccountSlice = { after: undefined, upTo: undefined };

interface SliceQuery {
  readonly columns: readonly UsageGroup[];
  readonly filter: UsageFilter;
  readonly segments: readonly UsageSegment[];
}

/**
 * Divides the accounts, so that the rows of all of them need not be in memory at once. This works
 * where rows are sorted by account first; and not for the entries of many hours, which would be
 * read once for each slice.
 */
export async function* listSlices(
  books: Books,
  { columns, filter, segments }: SliceQuery,
  signal: AbortSignal,
): AsyncGenerator<AccountSlice> {
  const isAboutUsers = columns.includes('end_user') || filter.end_user !== undefined;
  const isDivided = columns[0] === 'account' && filter.account === undefined && !isAboutUsers;
  if (!isDivided || segments.length === 0) {
    yield ALL;
    return;
  }
  for (let after: string | undefined; ; ) {
    await yieldTurn(signal);
    const slice = await findSlice(books, after, ACCOUNTS_MAX);
    yield slice;
    if (slice.upTo === undefined) return;
    after = slice.upTo;
  }
}
