import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { BooksTarget } from '../../lib/address/books-target.ts';
import type { Books } from './books.ts';
import { BOOKS_FILE } from './open-books.ts';

/** For people: it shows no password. */
export function nameBooksPlace(target: BooksTarget): string {
  if (target.kind === 'file') return join(target.dir, BOOKS_FILE);
  return target.url.replace(/\?.*$/, '').replace(/\/\/[^/]*@/, '//');
}

/** Opening a file that is missing would make it. */
export async function hasBooksFile(target: BooksTarget): Promise<boolean> {
  if (target.kind !== 'file') return true;
  try {
    await access(join(target.dir, BOOKS_FILE));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** The id of the books, or undefined if the database has no tables yet. */
export async function findBooksId({ db }: Pick<Books, 'db'>): Promise<string | undefined> {
  const tables = await db.introspection.getTables();
  if (!tables.some(({ name }) => name === 'ingestion')) return undefined;
  return (await db.selectFrom('ingestion').select('books').executeTakeFirst())?.books;
}
