import type { Books, BooksTransaction } from '../engine/books.ts';
import { keepFact } from '../engine/facts.ts';

const PREFIX = 'import ';

/** How far a segment is in the books. */
export interface FileProgress {
  /** The number of the last line. */
  readonly line: number;
  readonly isWhole: boolean;
}

/** By the path of the file. */
export async function readImportProgress({
  db,
}: Pick<Books, 'db'>): Promise<Map<string, FileProgress>> {
  const rows = await db
    .selectFrom('facts')
    .selectAll()
    .where('name', 'like', `${PREFIX}%`)
    .execute();
  return new Map(
    rows.map(({ name, value }) => [name.slice(PREFIX.length), JSON.parse(value) as FileProgress]),
  );
}

export function keepImportProgress(
  tx: BooksTransaction,
  path: string,
  progress: FileProgress,
): Promise<void> {
  return keepFact(tx, PREFIX + path, progress);
}
