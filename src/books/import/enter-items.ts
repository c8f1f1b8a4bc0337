import type { Books, BooksTransaction } from '../engine/books.ts';
import { dayOfMs, entriesOf } from '../engine/days.ts';
import type { DamagedRow, EntryRow, PaymentRow } from '../engine/tables.ts';
import { keepDamaged, type StreamItem } from '../ingest/stream-item.ts';
import { enterRows } from '../writing/enter-rows.ts';
import { eventOf, isSamePlace } from '../writing/find-rivals.ts';
import { type KnownDays, openDaysOf } from '../writing/known-days.ts';
import { noteProblems } from '../writing/note-problems.ts';
import { type FileProgress, keepImportProgress } from './import-progress.ts';

/** Two entries of one event are no further apart: a failover repeats what has just happened. */
const DAYS_APART_MAX = 2;

interface ItemsToEnter {
  readonly path: string;
  /** Each place once. */
  readonly items: readonly StreamItem[];
  readonly progress: FileProgress;
  /** Whether another segment may have another event at this place. */
  isShared(item: StreamItem): boolean;
  readonly nowMs: number;
}

interface EnteredItems {
  readonly entries: number;
  readonly payments: number;
}

/**
 * Enters what is not in the books yet, and keeps the progress with it. Where the books have the
 * event under another id, theirs stays and this one is noted: `settle-repeats.ts` decides.
 */
export async function enterItems(books: Books, options: ItemsToEnter): Promise<EnteredItems> {
  const { path, items, progress, isShared, nowMs } = options;
  const { entries, payments, damaged } = divide(items, nowMs);
  const days = daysNear(entries, await openDaysOf(books, { entries }));
  return await books.db.transaction().execute(async (tx) => {
    const shared = new Set(items.filter(isShared).map(({ content }) => content));
    const mayClash = items.flatMap(({ content }) =>
      content.is === 'entry' && shared.has(content) ? [content.row] : [],
    );
    const clashing = await findClashing(tx, mayClash);
    const rows = { entries: entries.filter((entry) => !clashing.has(entry)), payments };
    const entered = await enterRows(books.engine, tx, rows, {
      isLost: async () => false,
      days,
      nowMs,
    });
    await noteProblems(tx, { damaged, gaps: [] });
    await keepImportProgress(tx, path, progress);
    return entered;
  });
}

function divide(items: readonly StreamItem[], nowMs: number) {
  const entries: EntryRow[] = [];
  const payments: PaymentRow[] = [];
  const damaged: DamagedRow[] = [];
  for (const item of items) {
    const { content } = item;
    if (content.is === 'entry') entries.push(content.row);
    else if (content.is === 'payment') payments.push(content.row);
    else damaged.push(keepDamaged(item, nowMs));
  }
  return { entries, payments, damaged };
}

export function daysNear(
  entries: readonly Pick<EntryRow, 'ms'>[],
  { tables, missing }: KnownDays,
): KnownDays {
  const own = entries.map(({ ms }) => dayOfMs(ms));
  const [first, last] = [Math.min(...own) - DAYS_APART_MAX, Math.max(...own) + DAYS_APART_MAX];
  const near = (days: ReadonlySet<number>) =>
    new Set([...days].filter((day) => first <= day && day <= last));
  return { tables: near(tables), missing: near(missing) };
}

/**
 * Entries at whose place the books have another event. After a failover an id may be given twice;
 * what is in the books came later or from Redis itself.
 */
async function findClashing(
  tx: BooksTransaction,
  entries: readonly EntryRow[],
): Promise<ReadonlySet<EntryRow>> {
  const clashing = new Set<EntryRow>();
  for (const day of new Set(entries.map(({ ms }) => dayOfMs(ms)))) {
    const ofDay = entries.filter(({ ms }) => dayOfMs(ms) === day);
    const stored = await tx
      .selectFrom(entriesOf(day))
      .selectAll()
      .where('ms', 'in', [...new Set(ofDay.map(({ ms }) => ms))])
      .execute();
    for (const entry of ofDay) {
      const atPlace = stored.find((row) => isSamePlace(row, entry));
      if (atPlace !== undefined && eventOf(atPlace) !== eventOf(entry)) clashing.add(entry);
    }
  }
  return clashing;
}
