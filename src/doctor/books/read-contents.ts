import type { Books } from '../../books/engine/books.ts';
import { readIngestion } from '../../books/writing/write-batch.ts';
import type { BooksContents } from './books-access.ts';

/** Undefined if there are no tables yet. */
export async function readContents(books: Books): Promise<BooksContents | undefined> {
  const tables = await books.db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'ingestion')) return undefined;
  const applied = await books.db.selectFrom('migrations').select('number').execute();
  const { books: id } = await readIngestion(books);
  return { id, migrations: applied.map(({ number }) => number) };
}
