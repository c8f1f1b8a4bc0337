import type { BooksTransaction } from '../engine/books.ts';
import type { DamagedRow, GapRow } from '../engine/tables.ts';

/** Notes what the streams lack: entries that cannot be decoded, and stretches that are gone. */
export async function noteProblems(
  tx: BooksTransaction,
  { damaged, gaps }: { readonly damaged: readonly DamagedRow[]; readonly gaps: readonly GapRow[] },
): Promise<void> {
  if (damaged.length > 0) {
    await tx
      .insertInto('damaged')
      .values(damaged)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  if (gaps.length > 0) {
    await tx
      .insertInto('gaps')
      .values(gaps)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
