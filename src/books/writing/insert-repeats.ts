import type { BooksTransaction } from '../engine/books.ts';
import type { RepeatRow } from '../engine/tables.ts';

/** Repeats that are noted already stay as they are. */
export async function insertRepeats(
  tx: BooksTransaction,
  repeats: readonly RepeatRow[],
): Promise<void> {
  if (repeats.length === 0) return;
  const insert = tx.insertInto('repeats').values(repeats);
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
}
