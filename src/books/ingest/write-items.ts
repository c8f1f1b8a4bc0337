import type { Log } from '../../lib/log.ts';
import type { Books } from '../engine/books.ts';
import type { DamagedRow, EntryRow, GapRow, PaymentRow } from '../engine/tables.ts';
import { laterStreamId, type StreamId } from '../stream/stream-id.ts';
import { cursorOf } from '../writing/cursors.ts';
import type { EnterContext } from '../writing/enter-rows.ts';
import { type Batch, writeBatch } from '../writing/write-batch.ts';
import { DatabaseError, markDatabaseErrors } from './database-error.ts';
import { keepDamaged, type StreamItem } from './stream-item.ts';

/** How far the streams are in the books, kept up to date by what is written. */
export interface WrittenState {
  version: number;
  readonly cursors: Map<number, StreamId>;
}

interface WriteOptions {
  readonly books: Books;
  readonly state: WrittenState;
  readonly context: Pick<EnterContext, 'isLost' | 'nowMs'>;
  readonly log: Log;
}

/** SQLSTATE of data that Postgres refuses, and what libsql calls it. */
const REFUSED_DATA = /^(2[23]...|SQLITE_(CONSTRAINT|MISMATCH|RANGE|TOOBIG).*)$/;

/**
 * Writes entries of streams, and the cursors behind them. If the database refuses the data of one,
 * that one is set aside as damaged, and the others are written.
 */
export async function writeItems(
  options: WriteOptions,
  items: readonly StreamItem[],
  gaps: readonly GapRow[] = [],
): Promise<void> {
  try {
    await writeAll(options, items, gaps);
  } catch (error) {
    const [first] = items;
    if (!isRefusedData(error) || first === undefined) throw error;
    if (items.length === 1) {
      if (first.content.is === 'damaged') throw error;
      const damaged = { ...first, content: { is: 'damaged', reason: error } as const };
      await writeAll(options, [damaged], gaps);
      return;
    }
    const half = Math.ceil(items.length / 2);
    await writeItems(options, items.slice(0, half), gaps);
    await writeItems(options, items.slice(half));
  }
}

async function writeAll(
  { books, state, context, log }: WriteOptions,
  items: readonly StreamItem[],
  gaps: readonly GapRow[],
): Promise<void> {
  const batch = createBatch(state, items, gaps, context.nowMs);
  const { repeats } = await markDatabaseErrors(writeBatch(books, batch, context));
  state.version = batch.version + 1;
  for (const [bucket, id] of batch.cursors) state.cursors.set(bucket, id);
  logDamaged(log, items);
  for (const { fate, bucket, ms, seq, account, request, kind } of repeats) {
    if (fate !== 'second') continue;
    const place = { bucket, id: `${ms}-${seq}` };
    log.error({ ...place, account, request, kind }, 'Redis has an entry of the ledger twice');
  }
}

function createBatch(
  { version, cursors }: WrittenState,
  items: readonly StreamItem[],
  gaps: readonly GapRow[],
  nowMs: number,
): Batch {
  const entries: EntryRow[] = [];
  const payments: PaymentRow[] = [];
  const damaged: DamagedRow[] = [];
  const after = new Map(cursors);
  const reach = (bucket: number, id: StreamId) => {
    after.set(bucket, laterStreamId(cursorOf(after, bucket), id));
  };
  for (const { bucket, until } of gaps) reach(bucket, until);
  for (const item of items) {
    const { content, bucket, id } = item;
    reach(bucket, id);
    if (content.is === 'entry') entries.push(content.row);
    else if (content.is === 'payment') payments.push(content.row);
    else damaged.push(keepDamaged(item, nowMs));
  }
  return { version, cursors: after, entries, payments, damaged, gaps };
}

function logDamaged(log: Log, items: readonly StreamItem[]): void {
  const damaged = items.filter(({ content }) => content.is === 'damaged');
  const [first] = damaged;
  if (first?.content.is !== 'damaged') return;
  const { bucket, id, content } = first;
  log.error(
    { bucket, id, err: content.reason, damaged: damaged.length },
    'entries of the ledger cannot be read; the books keep their bytes',
  );
}

function isRefusedData(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || !(error.cause instanceof Error)) return false;
  return 'code' in error.cause && REFUSED_DATA.test(String(error.cause.code));
}
