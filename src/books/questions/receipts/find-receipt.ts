import { minuteOfRequest } from '../../../lib/request-id.ts';
import type { Books } from '../../engine/books.ts';
import { dayOfMs, nameDay } from '../../engine/days.ts';
import { listMissingDays } from '../../engine/missing-days.ts';
import type { EntryRow } from '../../engine/tables.ts';
import { BooksError } from '../books-error.ts';
import { findNames } from '../find-names.ts';
import type { QuestionContext } from '../question.ts';
import { describeReceipt } from './describe-receipt.ts';
import { findRequest } from './find-request.ts';

/** Null when nothing is known of such a request. */
export async function findReceipt(
  context: QuestionContext,
  requestId: string,
  signal: AbortSignal,
): Promise<object | null> {
  const found = await findRequest(context, { requestId }, signal);
  if (found.kind === 'unknown' || (found.kind === 'ended' && mayLackEntries(found.entries))) {
    await refuseArchived(context.books, requestId);
  }
  if (found.kind === 'unknown') return null;
  const rows = found.kind === 'running' ? [found.hold] : found.entries;
  return describeReceipt(requestId, found, await findNames(context.books, rows));
}

/** What was charged when a lease ran out comes first, and what is settled late after it. */
function mayLackEntries(entries: readonly EntryRow[]): boolean {
  const has = (wanted: EntryRow['kind']) => entries.some(({ kind }) => kind === wanted);
  return has('expired') !== has('late');
}

/** Throws if the request may have ended on a day whose entries are in the archive alone. */
async function refuseArchived(books: Books, requestId: string): Promise<void> {
  const minuteMs = minuteOfRequest(requestId);
  if (minuteMs === undefined) return;
  const day = dayOfMs(minuteMs);
  const missing = await listMissingDays(books);
  if (!missing.includes(day) && !missing.includes(day + 1)) return;
  throw new BooksError(
    'request_archived',
    `the entries of ${nameDay(day)} are in the archive: tollgate books query "SELECT * FROM entries WHERE request = '${requestId}'" --from ${nameDay(day)}`,
  );
}
