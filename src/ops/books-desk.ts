import type { AuditPage, AuditQuery } from '../books/questions/audit/list-audit.ts';
import type { EntriesQuery } from '../books/questions/entries/read-pages.ts';
import type { RefusalsQuery, RefusalsReport } from '../books/questions/list-refusals.ts';
import type { BooksStatus } from '../books/questions/read-status.ts';
import type { RequestsPage, RequestsQuery } from '../books/questions/requests/list-requests.ts';
import type { AccountSearch, FoundAccounts } from '../books/questions/search-accounts.ts';
import type { PrintedStatementQuery } from '../books/questions/statements/print-statement.ts';
import type { Statement, StatementQuery } from '../books/questions/statements/statement.ts';
import type { UsageQuery } from '../books/questions/usage/usage-query.ts';

/**
 * Answers what operators ask of the books, from another thread: queries and answers are plain
 * data. The signal ends the work when the client has left. Throws `BooksError` for every expected
 * refusal.
 */
export interface BooksDesk {
  listRequests(query: RequestsQuery, signal: AbortSignal): Promise<RequestsPage>;
  /** Null when nothing is known of such a request. */
  findReceipt(requestId: string, signal: AbortSignal): Promise<object | null>;
  /** Lines of JSON, several in one text. */
  listEntries(query: EntriesQuery, signal: AbortSignal): AsyncIterable<string>;
  /** Whether the books have the name of this key. */
  knowsKey(key: string, signal: AbortSignal): Promise<boolean>;
  listRefusals(query: RefusalsQuery, signal: AbortSignal): Promise<RefusalsReport>;
  readStatus(signal: AbortSignal): Promise<BooksStatus>;
  listAudit(query: AuditQuery, signal: AbortSignal): Promise<AuditPage>;
  searchAccounts(query: AccountSearch, signal: AbortSignal): Promise<FoundAccounts>;
  /** JSON. */
  printUsage(query: UsageQuery, signal: AbortSignal): AsyncIterable<string>;
  /** CSV. */
  exportUsage(query: UsageQuery, signal: AbortSignal): AsyncIterable<string>;
  readStatement(query: StatementQuery, signal: AbortSignal): Promise<Statement>;
  /** CSV, or a page of HTML. */
  printStatement(query: PrintedStatementQuery, signal: AbortSignal): AsyncIterable<string>;
}
