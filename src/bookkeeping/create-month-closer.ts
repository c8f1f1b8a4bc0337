import { closeMonth, findMonthToClose, openUnlikeMonths } from '../books/duties/close-month.ts';
import type { Books } from '../books/engine/books.ts';
import { dayOfMs } from '../books/engine/days.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import type { Log } from '../lib/log.ts';
import { createDuty } from './create-duty.ts';

/** By then, even entries that were late by a weekend are in the books. */
const CLOSED_AFTER_MS = 3 * 86_400_000;

interface MonthCloserOptions {
  readonly books: Books;
  /** Runs the work with a longer time limit: the sums of many accounts take long. */
  readonly withPatience: (work: (patient: Books) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Closes the months that are over, the oldest first. A month that cannot be closed is tried again
 * after all later ones.
 */
export function createMonthCloser(
  { books, withPatience, signal }: MonthCloserOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  let tried: string | undefined;
  const close = async (untilMs: number) => {
    // A node of an earlier version may have held the lease of the books in between.
    await openUnlikeMonths(books);
    const month = await findMonthToClose(books, dayOfMs(untilMs - CLOSED_AFTER_MS), tried);
    tried = month;
    if (month !== undefined) await withPatience((patient) => closeMonth(patient, month, signal));
  };
  const failure = 'the usage of a month was not summed up; the next try is in ten minutes';
  return createDuty(close, { ingester, failure, signal, log });
}
