import type { Books, BooksTransaction } from './books.ts';

/** Reads several things as they are at one moment. It waits for nobody, and nobody for it. */
export function readSnapshot<Result>(
  { db }: Pick<Books, 'db'>,
  read: (tx: BooksTransaction) => Promise<Result>,
): Promise<Result> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(read);
}
