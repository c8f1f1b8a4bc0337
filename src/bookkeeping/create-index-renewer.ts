import type { Books } from '../books/engine/books.ts';
import { dayOfMs } from '../books/engine/days.ts';
import { findDayToRenew, renewIndexes } from '../books/engine/renew-indexes.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import { LATE_WITHIN_MAX_MS } from '../books/stream/late-entries.ts';
import type { Log } from '../lib/log.ts';
import { createDuty } from './create-duty.ts';

interface IndexRenewerOptions {
  readonly books: Books;
  /** Runs the work with a longer time limit: an index of a large day takes long to build. */
  readonly withPatience: (work: (patient: Books) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Gives days of an earlier version the indexes of this one, once the days are closed. */
export function createIndexRenewer(
  { books, withPatience, signal }: IndexRenewerOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  const renew = async (untilMs: number) => {
    const day = await findDayToRenew(books, dayOfMs(untilMs - LATE_WITHIN_MAX_MS));
    if (day !== undefined) await withPatience((patient) => renewIndexes(patient, day));
  };
  const failure = 'a day did not get its indexes; the next try is in ten minutes';
  return createDuty(renew, { ingester, failure, signal, log });
}
