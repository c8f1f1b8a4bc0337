import { bucketOfAccount } from '../../../keys/account-id.ts';
import { bucketOfKey } from '../../../keys/api-key.ts';
import type { Books } from '../../engine/books.ts';
import { msOfDay, nameDay } from '../../engine/days.ts';
import { listMissingDays } from '../../engine/missing-days.ts';
import { addAccountOfKey } from '../add-account-of-key.ts';
import { countMissing } from '../count-missing.ts';
import type { Place } from '../page-cursor.ts';
import type { QuestionContext } from '../question.ts';
import { countDoubtful } from './count-doubtful.ts';
import { type LedgerEntry, showEntry, showPayment } from './ledger-entry.ts';
import { type EntriesQuery, LEDGER_PAGE_ROWS, readEntries, readPayments } from './read-pages.ts';

const LINES_AT_ONCE = 50;

/**
 * Entries of requests and payments as lines of JSON, the oldest first. If some are missing, the
 * last line says so, `{"incomplete":…}`: Redis had lost them, the archive alone has them, or they
 * are set aside until they are compared with it.
 */
export async function* listEntries(
  { books, share }: QuestionContext,
  query: EntriesQuery,
  signal: AbortSignal,
): AsyncGenerator<string> {
  // Takes all that it ever keeps, so that it is not broken off halfway for the sake of others.
  share.add(2 * LEDGER_PAGE_ROWS);
  const doubtful = await countDoubtful(books, query);
  let lines: string[] = [];
  for await (const entry of readLedger(books, query, signal)) {
    lines.push(`${JSON.stringify(entry)}\n`);
    if (lines.length < LINES_AT_ONCE) continue;
    yield lines.join('');
    lines = [];
  }
  const losses = await countMissing(books, { bucket: bucketOf(query) });
  const archived = await findArchivedDates(books, query);
  if (losses.damaged_lines + losses.gaps + doubtful + archived.length > 0) {
    const archived_until = archived.at(-1) ?? null;
    const incomplete = { ...losses, doubtful, archived_days: archived.length, archived_until };
    lines.push(`${JSON.stringify({ incomplete })}\n`);
  }
  yield lines.join('');
}

/** The same, one by one. */
export async function* readLedger(
  books: Books,
  query: EntriesQuery,
  signal: AbortSignal,
): AsyncGenerator<LedgerEntry> {
  const asked = await addAccountOfKey(books, query);
  const payments = readPayments(books, asked, signal);
  try {
    let payment = await payments.next();
    for await (const entry of readEntries(books, asked, signal)) {
      while (payment.done !== true && isBefore(payment.value, entry)) {
        yield showPayment(payment.value);
        payment = await payments.next();
      }
      yield showEntry(entry);
    }
    for (; payment.done !== true; payment = await payments.next()) {
      yield showPayment(payment.value);
    }
  } finally {
    await payments.return(undefined);
  }
}

function isBefore(first: Place, second: Place): boolean {
  return (first.ms - second.ms || first.bucket - second.bucket || first.seq - second.seq) < 0;
}

/** Where the entries of an account or a key are; undefined is everywhere, and -1 nowhere. */
function bucketOf({ account, key }: EntriesQuery): number | undefined {
  if (account !== undefined) return bucketOfAccount(account) ?? -1;
  return key === undefined ? undefined : (bucketOfKey(key) ?? -1);
}

/**
 * The dates of which the archive has entries that the books do not; of one account, if the query
 * names it or one of its keys.
 */
export async function findArchivedDates(books: Books, query: EntriesQuery): Promise<string[]> {
  const { fromMs = Number.NEGATIVE_INFINITY, toMs = Number.POSITIVE_INFINITY } = query;
  const missing = await listMissingDays(books);
  const asked = missing.filter((day) => msOfDay(day + 1) > fromMs && msOfDay(day) < toMs);
  const { account } = await addAccountOfKey(books, query);
  if (asked.length === 0 || account === undefined) return asked.map(nameDay);
  const ofAccount = books.db.selectFrom('account_days').select('day');
  const rows = await ofAccount.where('account', '=', account).execute();
  const own = new Set(rows.map(({ day }) => day));
  return asked.filter((day) => own.has(day)).map(nameDay);
}
