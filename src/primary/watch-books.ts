import type { BooksThreads } from '../bookkeeping/start-books-threads.ts';
import { firstKeptDay } from '../books/retention/first-kept-day.ts';
import type { BooksConfig, Config } from '../config/config.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';

const CHECK_MS = 1_000;
/** Admissions begin again when the books have caught up this far. */
const ROOM_AGAIN_SHARE = 0.9;
/** A thread that restarts knows what waits long before that. */
const UNKNOWN_CHECKS_MAX = 60;

interface WatchedBooks {
  readonly threads: Pick<BooksThreads, 'report'>;
  readonly books: BooksConfig;
  readonly clock: Clock;
}

/** Shows what the threads of the books report. */
export function watchBooks(metrics: ProcessMetrics, { threads, books, clock }: WatchedBooks): void {
  metrics.booksIngesting.watch((set) => set({}, threads.report()?.isIngesting === true ? 1 : 0));
  metrics.booksLag.watch((set) => {
    const lagMs = threads.report()?.lagMs;
    if (lagMs !== undefined) set({}, lagMs / 1_000);
  });
  metrics.booksWaiting.watch((set) => {
    const waiting = threads.report()?.waitingEntries;
    if (waiting !== undefined) set({}, waiting);
  });
  const watchFact = (
    gauge: { watch(read: (set: (labels: object, value: number) => void) => void): void },
    read: (facts: NonNullable<ReturnType<typeof readFacts>>) => number | undefined,
  ) => {
    gauge.watch((set) => {
      const facts = readFacts();
      const value = facts === undefined ? undefined : read(facts);
      if (value !== undefined) set({}, value);
    });
  };
  const readFacts = () => threads.report()?.facts;
  watchFact(metrics.booksGaps, ({ gaps }) => gaps);
  watchFact(metrics.booksRepeats, ({ repeats }) => repeats);
  watchFact(metrics.booksDoubtful, ({ doubtful }) => doubtful);
  watchFact(metrics.booksArchivedDays, ({ archivedDays }) => archivedDays);
  watchFact(metrics.booksSize, ({ bytes }) => bytes);
  watchFact(metrics.booksDaysDue, ({ daysKept }) => {
    if (books.archive === undefined) return undefined;
    const firstKept = firstKeptDay(clock.nowMs(), books.keepMs);
    return daysKept.filter((day) => day < firstKept).length;
  });
  watchFact(metrics.booksDrifts, ({ verified }) => verified?.drifts);
  // From the beginning, so that what the first check finds shows as growth.
  watchFact(metrics.booksHoldsUnsettled, ({ verified }) => verified?.unsettledHolds ?? 0);
  watchFact(metrics.booksVerifiedTime, ({ verified }) => verified && verified.verifiedMs / 1_000);
}

/** Reports when too many entries wait for the books, and when there is room again. */
export function watchBooksRoom(
  threads: Pick<BooksThreads, 'report'>,
  configInUse: () => Config,
  report: (isFull: boolean) => void,
): () => void {
  let isFull = false;
  let unknownChecks = 0;
  const timer = setInterval(() => {
    const waiting = threads.report()?.waitingEntries;
    const max = configInUse().books.waitingEntriesMax;
    unknownChecks = waiting === undefined ? unknownChecks + 1 : 0;
    // While a thread restarts, what was known last holds. But if nobody can count, refusing every
    // request forever is worse than what it prevents: that Redis is full.
    if (unknownChecks > UNKNOWN_CHECKS_MAX) isFull = false;
    if (waiting !== undefined) isFull = waiting > (isFull ? max * ROOM_AGAIN_SHARE : max);
    report(isFull);
  }, CHECK_MS).unref();
  return () => clearInterval(timer);
}
