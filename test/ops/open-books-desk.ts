import { bindAnswers } from '../../src/bookkeeping/answers.ts';
import { createBooksDesk } from '../../src/bookkeeping/create-books-desk.ts';
import type { ThreadLine } from '../../src/bookkeeping/thread-line.ts';
import type { Books } from '../../src/books/engine/books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import type { QuestionSource } from '../../src/books/questions/question.ts';
import {
  createRowBudget,
  ROWS_HELD_MAX,
  type RowBudget,
} from '../../src/books/questions/row-budget.ts';
import type { BooksDesk } from '../../src/ops/books-desk.ts';
import type { CleanUp } from '../support/create-temp-dir.ts';
import { createTempDir } from '../support/create-temp-dir.ts';

export interface TestDesk {
  readonly books: Books;
  readonly desk: BooksDesk;
  /** Of all questions. */
  readonly rowBudget: RowBudget;
}

/** Books in a file, and the answers from them, in this thread. */
export async function openBooksDesk(
  rest: Omit<QuestionSource, 'books'>,
  cleanUp: CleanUp,
): Promise<TestDesk> {
  const target = { kind: 'file', dir: createTempDir(cleanUp) } as const;
  const books = openBooks({ target, isReader: false, name: 'test' });
  cleanUp(() => books.close());
  await migrateBooks(books, rest.clock.nowMs());
  const rowBudget = createRowBudget(ROWS_HELD_MAX);
  const answers = bindAnswers({ ...rest, books }, rowBudget);
  const ask = (name: string, query: unknown, signal = new AbortController().signal) =>
    answers[name]?.(query as never, signal);
  const line = { ask: ask as ThreadLine['ask'], stream: ask as ThreadLine['stream'] };
  return { books, desk: createBooksDesk(line, () => ({ keepDays: 90, archive: null })), rowBudget };
}
