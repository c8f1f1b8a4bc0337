import { readBooksId } from '../stream/books-lease.ts';
import { BooksError } from './books-error.ts';
import type { QuestionSource } from './question.ts';

const CHECKED_MS = 1_000;

/**
 * Returns a check that throws if the entries of the fleet go to other books: these books then
 * lack some, and no answer would show that.
 */
export function createBooksCheck(context: QuestionSource): () => Promise<void> {
  const { books, connection, clock } = context;
  let checkedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = clock.nowMs();
    if (Math.abs(nowMs - checkedMs) < CHECKED_MS) return;
    const used = await readBooksId(connection);
    const own = await books.db.selectFrom('ingestion').select('books').executeTakeFirstOrThrow();
    if (used !== undefined && used !== own.books) {
      throw new BooksError(
        'books_elsewhere',
        'another node of this Redis keeps the books: nodes that share a Redis need the same books.url',
      );
    }
    checkedMs = nowMs;
  };
}
