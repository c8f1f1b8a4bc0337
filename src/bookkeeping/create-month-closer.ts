import { closeMonth, findMonthToClose, openUnlikeMonths } from '../books/duties/close-month.ts';
import type { Books } from '../books/engine/books.ts';
import { dayOfMs } from '../books/engine/days.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import type { Log } from '../lib/log.ts';
import { createDuty } from './create-duty.ts';

/** Entries that were late by as much as a weekend are in the books by then. */
const CLOSED_AFTER_MS = 3 * 86_400_000;

interface MonthCloserOptions {
  readonly books: Books;
  /** Does the work with books that wait longer: the sums of many accounts take their time. */
  readonly withPatience: (work: (patient: Books) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * Closes the months that are over, the oldest first. One that cannot be closed has its next turn
 * after all later ones.
 */
export function createMonthCloser(
  { books, withPatience, signal }: MonthCloserOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  let tried: string | undefined;
  const close = async (untilMs: number) => {
    // The lease of the books may have been with a node of an earlier version meanwhile.
    await openUnlikeMonths(books);
    const month = await findMonthToClose(books, dayOfMs(untilMs - CLOSED_AFTER_MS), tried);
    tried = month;
    if (month !== undefined) await withPatience((patient) => closeMonth(patient, month, signal));
  };
  const failure = 'the usage of a month was not summed up; the next try is in ten minutes';
  return createDuty(close, { ingester, failure, signal, log });
}
