import type { Books } from '../../books/engine/books.ts';
import { findBooksId } from '../../books/engine/find-books.ts';
import type { BooksContents } from './books-access.ts';

/** Undefined if there are no tables yet. */
export async function readContents(books: Books): Promise<BooksContents | undefined> {
  const id = await findBooksId(books);
  if (id === undefined) return undefined;
  const applied = await books.db.selectFrom('migrations').select('number').execute();
  return { id, migrations: applied.map(({ number }) => number) };
}
