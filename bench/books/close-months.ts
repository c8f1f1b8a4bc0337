import { closeMonth, findMonthToClose } from '../../src/books/duties/close-month.ts';
import { dayOfMs } from '../../src/books/engine/days.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';

/** Closes all months that are over, as the node does that writes the books. Returns the seconds. */
export async function closeMonths(target: BooksTarget): Promise<number> {
  const books = openBooks({ target, isReader: false, name: 'bench', timeoutMs: 3_600_000 });
  const { signal } = new AbortController();
  const startedMs = performance.now();
  for (;;) {
    const month = await findMonthToClose(books, dayOfMs(Date.now()));
    if (month === undefined) break;
    await closeMonth(books, month, signal);
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  await books.close();
  return seconds;
}
