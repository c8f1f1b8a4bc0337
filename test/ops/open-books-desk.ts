import type { Books } from '../../src/books/engine/books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { listAudit } from '../../src/books/questions/audit/list-audit.ts';
import { listEntries } from '../../src/books/questions/entries/list-entries.ts';
import { explainOutage } from '../../src/books/questions/explain-outage.ts';
import { knowsKey } from '../../src/books/questions/knows-key.ts';
import { listRefusals } from '../../src/books/questions/list-refusals.ts';
import type { Question, QuestionContext } from '../../src/books/questions/question.ts';
import { readStatus } from '../../src/books/questions/read-status.ts';
import { findReceipt } from '../../src/books/questions/receipts/find-receipt.ts';
import { listRequests } from '../../src/books/questions/requests/list-requests.ts';
import { searchAccounts } from '../../src/books/questions/search-accounts.ts';
import { printStatement } from '../../src/books/questions/statements/print-statement.ts';
import { readStatement } from '../../src/books/questions/statements/statement.ts';
import { exportUsage } from '../../src/books/questions/usage/export-usage.ts';
import { printUsage } from '../../src/books/questions/usage/print-usage.ts';
import type { BooksDesk } from '../../src/ops/books-desk.ts';
import type { CleanUp } from '../support/create-temp-dir.ts';
import { createTempDir } from '../support/create-temp-dir.ts';

export interface TestDesk {
  readonly books: Books;
  readonly desk: BooksDesk;
}

/** Books in a file, and the answers from them, in this thread. */
export async function openBooksDesk(
  rest: Omit<QuestionContext, 'books'>,
  cleanUp: CleanUp,
): Promise<TestDesk> {
  const target = { kind: 'file', dir: createTempDir(cleanUp) } as const;
  const books = openBooks({ target, isReader: false, name: 'test' });
  cleanUp(() => books.close());
  await migrateBooks(books, rest.clock.nowMs());
  const context: QuestionContext = { ...rest, books };
  const bind =
    <Query, Answer>(question: Question<Query, Answer>) =>
    (query: Query, signal: AbortSignal) =>
      question(context, query, signal).catch((error: unknown) => {
        throw explainOutage(error);
      });
  const desk: BooksDesk = {
    listRequests: bind(listRequests),
    findReceipt: bind(findReceipt),
    listEntries: (query, signal) => listEntries(context, query, signal),
    knowsKey: bind(knowsKey),
    listRefusals: bind(listRefusals),
    readStatus: (signal) => bind(readStatus)({ keepDays: 90, archive: null }, signal),
    listAudit: bind(listAudit),
    searchAccounts: bind(searchAccounts),
    printUsage: (query, signal) => printUsage(context, query, signal),
    exportUsage: (query, signal) => exportUsage(context, query, signal),
    readStatement: bind(readStatement),
    printStatement: (query, signal) => printStatement(context, query, signal),
  };
  return { books, desk };
}
