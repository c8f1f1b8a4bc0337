import type { StatusQuery } from '../books/questions/read-status.ts';
import type { ChargeFinder } from '../books/questions/receipts/charge-finder.ts';
import type { BooksDesk } from '../ops/books-desk.ts';
import type { ThreadLine } from './thread-line.ts';

/** The questions of operators and of the journal, asked of the thread that answers them. */
interface NodeBooks extends BooksDesk {
  readonly findCharged: ChargeFinder;
}

/** Names are those in `answers.ts`. */
export function createBooksDesk(
  { ask, stream }: Pick<ThreadLine, 'ask' | 'stream'>,
  readStatusQuery: () => StatusQuery,
): NodeBooks {
  const answered =
    <Query, Answer>(name: string) =>
    (query: Query, signal?: AbortSignal) =>
      ask(name, query, signal) as Promise<Answer>;
  const streamed =
    <Query>(name: string) =>
    (query: Query, signal: AbortSignal) =>
      stream(name, query, signal);

  return {
    findReceipt: answered('findReceipt'),
    listRequests: answered('listRequests'),
    knowsKey: answered('knowsKey'),
    listRefusals: answered('listRefusals'),
    listAudit: answered('listAudit'),
    searchAccounts: answered('searchAccounts'),
    readStatement: answered('readStatement'),
    readStatus: (signal) => answered<StatusQuery, never>('readStatus')(readStatusQuery(), signal),
    listEntries: streamed('listEntries'),
    exportUsage: streamed('exportUsage'),
    printStatement: streamed('printStatement'),
    printUsage: streamed('printUsage'),
    findCharged: answered('findCharged'),
  };
}
