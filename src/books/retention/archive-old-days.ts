import type { Clock } from '../../lib/time/clock.ts';
import { archiveDay } from '../archive/archive-day.ts';
import type { ArchiveStore } from '../archive/archive-store.ts';
import type { DaySource } from '../archive/day-source.ts';
import { type Manifest, removeManifest } from '../archive/manifest.ts';
import { verifyArchivedDay } from '../archive/verify-archived-day.ts';
import type { Books } from '../engine/books.ts';
import { msOfDay, nameDay } from '../engine/days.ts';
import type { DayRow } from '../engine/tables.ts';
import { LATE_WITHIN_MAX_MS } from '../stream/late-entries.ts';
import { dropDay, noteArchived } from './drop-day.ts';
import { firstKeptDay } from './first-kept-day.ts';
import { restoreDay } from './restore-day.ts';
import { settleDoubtful } from './settle-doubtful.ts';
import { sourceOfDay } from './source-of-day.ts';
import { hasUnchecked, takeBackRepeats } from './take-back-repeats.ts';

const UNCHECKED = 'late entries must be compared with the archive first';

interface Retention {
  readonly books: Books;
  readonly keepMs: number;
  /** Every entry that is older is in the books. */
  readonly untilMs: number;
  readonly clock: Clock;
}

export interface ArchiveDaysOptions extends Retention {
  readonly place: ArchiveStore;
  /** Belongs to this call alone. */
  readonly tempFolder: string;
  readonly rowsPerFileMax?: number;
  readonly signal: AbortSignal;
  /** Called when a day is next, and while its entries are written. */
  onProgress(progress: ArchiveProgress): void;
  onArchived(manifest: Manifest): void;
  /** The day stays in the books, and the next one is archived. */
  onFailure(day: Pick<DueDay, 'day'>, reason: Error): void;
}

export interface ArchiveProgress {
  readonly day: number;
  /** How many days are done, of how many. */
  readonly done: number;
  readonly days: number;
  /** How many entries of the day have been read. */
  readonly rows: number;
}

export type DueDay = Pick<DayRow, 'day' | 'state' | 'archive'>;

/** The days whose tables may be dropped once they are archived, the oldest first. */
export async function listDueDays({ books, keepMs, untilMs, clock }: Retention): Promise<DueDay[]> {
  // A clock that is ahead would make every day old; the entries have the clock of Redis.
  const nowMs = Math.min(clock.nowMs(), untilMs);
  const days = await books.db
    .selectFrom('days')
    .select(['day', 'state', 'archive'])
    .where('state', '<>', 'dropped')
    .where('day', '<', firstKeptDay(nowMs, keepMs))
    .orderBy('day')
    .execute();
  return days.filter(({ day }) => msOfDay(day + 1) + LATE_WITHIN_MAX_MS <= nowMs);
}

/**
 * Moves every day that is due from the books into the archive. A call that is killed leaves each
 * day in at least one of them, and the next call continues.
 */
export async function archiveOldDays(options: ArchiveDaysOptions): Promise<void> {
  await takeBackRepeats(options);
  await settleDoubtful(options);
  const days = await listDueDays(options);
  for (const [index, day] of days.entries()) {
    options.signal.throwIfAborted();
    const { onProgress } = options;
    const progress = { day: day.day, done: index, days: days.length };
    try {
      await moveDay(options, day, (rows) => onProgress({ ...progress, rows }));
    } catch (error) {
      options.signal.throwIfAborted();
      options.onFailure(day, error instanceof Error ? error : new Error(`${error}`));
    }
  }
}

async function moveDay(options: ArchiveDaysOptions, due: DueDay, onRows: (rows: number) => void) {
  const { day, state, archive } = due;
  const { books, place, tempFolder } = options;
  onRows(0);
  if (await hasUnchecked(books, day)) throw new Error(UNCHECKED);
  const isRest = state === 'open' && archive !== null;
  if (isRest) await restoreDay(books, place, { day, noted: archive, tempFolder });
  const source = countRows(sourceOfDay(books, day), onRows);
  const manifest = await archiveDay(source, place, options);
  if (await hasUnchecked(books, day)) {
    // They came meanwhile, and an entry that is taken back must not be in the archive.
    await removeManifest(place, day);
    throw new Error(UNCHECKED);
  }
  const problems = await verifyArchivedDay(place, day, { tempFolder });
  if (problems.length > 0) {
    throw new Error(
      `the archive of ${nameDay(day)} in ${place.title} is damaged (${problems.join('; ')}): without its manifest, the day is archived anew`,
    );
  }
  await noteArchived(books, isRest ? { ...due, archive: null } : due, manifest);
  await dropDay(books, day);
  options.onArchived(manifest);
}

/** Reports how many rows have been read, after each page. */
function countRows(source: DaySource, onRows: (rows: number) => void): DaySource {
  return {
    ...source,
    async *rows() {
      let read = 0;
      for await (const page of source.rows()) {
        yield page;
        read += page.length;
        onRows(read);
      }
    },
  };
}
