import type { Books } from '../books/engine/books.ts';
import { dayOfMs } from '../books/engine/days.ts';
import { renewIndexes } from '../books/engine/renew-indexes.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import { LATE_WITHIN_MAX_MS } from '../books/stream/late-entries.ts';
import type { Log } from '../lib/log.ts';
import { createDuty } from './create-duty.ts';

interface IndexRenewerOptions {
  /** Building an index of a large day takes longer than other statements may. */
  readonly books: Books;
  readonly signal: AbortSignal;
}

/** Gives days that an earlier version has made the indexes of this one, once they are closed. */
export function createIndexRenewer(
  { books, signal }: IndexRenewerOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  const renew = (untilMs: number) => renewIndexes(books, dayOfMs(untilMs - LATE_WITHIN_MAX_MS));
  const failure = 'a day did not get its indexes; the next try is in ten minutes';
  return createDuty(renew, { ingester, failure, signal, log });
}
