import type { Books, BooksTransaction } from '../engine/books.ts';
import type { DamagedRow, GapRow } from '../engine/tables.ts';
import type { StreamId } from '../stream/stream-id.ts';
import { type Cursors, decodeCursors, encodeCursors } from './cursors.ts';
import { type EnterContext, type EnteredRows, enterRows, type RowsToEnter } from './enter-rows.ts';
import { openDaysOf } from './known-days.ts';
import { noteProblems } from './note-problems.ts';

/** How far the streams are in the books. */
export interface IngestionState {
  /** The id of these books. */
  readonly books: string;
  readonly version: number;
  readonly cursors: Cursors;
  readonly auditCursor: StreamId;
}

/** What was read from the streams since the state with `version`. */
export interface Batch extends RowsToEnter {
  readonly version: number;
  /** The cursors afterwards, of all buckets. */
  readonly cursors: Cursors;
  readonly damaged: readonly DamagedRow[];
  readonly gaps: readonly GapRow[];
}

/** Since these cursors were read, another node has written a batch, or batches were lost. */
export class StaleBatchError extends Error {}

export async function readIngestion({ db }: Pick<Books, 'db'>): Promise<IngestionState> {
  const row = await db.selectFrom('ingestion').selectAll().executeTakeFirstOrThrow();
  const { books, version, cursors, audit_cursor: auditCursor } = row;
  return { books, version, cursors: decodeCursors(cursors), auditCursor };
}

/**
 * Writes entries, the rollups of those that were new, and the cursors in one transaction. Throws
 * `StaleBatchError`, and writes nothing, if another batch came in between.
 */
export async function writeBatch(
  books: Books,
  batch: Batch,
  context: Pick<EnterContext, 'isLost' | 'nowMs'>,
): Promise<EnteredRows> {
  const days = await openDaysOf(books, batch);
  return await books.db.transaction().execute(async (tx) => {
    await moveCursors(tx, batch);
    const entered = await enterRows(books.engine, tx, batch, { ...context, days });
    await noteProblems(tx, batch);
    return entered;
  });
}

async function moveCursors(tx: BooksTransaction, { version, cursors }: Batch): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('ingestion')
    .set({ version: version + 1, cursors: encodeCursors(cursors) })
    .where('version', '=', version)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) throw new StaleBatchError('the books have moved on');
}
