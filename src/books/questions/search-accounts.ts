import { bucketOfAccount } from '../../keys/account-id.ts';
import type { Books } from '../engine/books.ts';
import { splitWords } from '../ingest/names/split-words.ts';
import { BooksError } from './books-error.ts';
import type { QuestionContext } from './question.ts';

export interface AccountSearch {
  /** Beginnings of words of the name, or of the id, in upper or lower case. All must match. */
  readonly search: string;
  readonly limit: number;
  /** The id of the last account of the page before. */
  readonly after?: string | undefined;
}

export interface FoundAccounts {
  /** Sorted. */
  readonly ids: readonly string[];
  readonly next: string | null;
}

const ID_START = /^acct_/i;
/** Sorts after every word that continues a beginning. */
const LAST_CHAR = '\u{10ffff}';

/** Finds accounts by the words that the mirror of their names has. */
export async function searchAccounts(
  { books, share }: QuestionContext,
  { search, limit, after }: AccountSearch,
  signal: AbortSignal,
): Promise<FoundAccounts> {
  if (after !== undefined && bucketOfAccount(after) === undefined) {
    throw new BooksError('invalid_cursor', 'after is not the id of an account');
  }
  signal.throwIfAborted();
  const words = listWords(search);
  const [longest, ...others] = words.toSorted((one, other) => other.length - one.length);
  if (longest === undefined) return { ids: [], next: null };
  let asked = selectByWord(books, longest);
  for (const word of others) {
    asked = asked.where('account', 'in', selectByWord(books, word));
  }
  if (after !== undefined) asked = asked.where('account', '>', after);
  // One more shows whether there is another page.
  const found = await asked
    .distinct()
    .orderBy('account')
    .limit(limit + 1)
    .execute();
  share.add(found.length);
  const ids = found.slice(0, limit).map(({ account }) => account);
  return { ids, next: found.length > limit ? (ids.at(-1) ?? null) : null };
}

/** An id is a word of its own, in lower case like the others. */
function listWords(search: string): string[] {
  const terms = search.split(/\s+/u).filter((term) => term !== '');
  const words = terms.flatMap((term) =>
    ID_START.test(term) ? [term.toLowerCase()] : splitWords(term),
  );
  return [...new Set(words)];
}

function selectByWord({ db }: Books, word: string) {
  return db
    .selectFrom('words')
    .select('account')
    .where('word', '>=', word)
    .where('word', '<', word + LAST_CHAR);
}
