import type { Directory } from '../../accounts/directory.ts';
import type { BooksDesk } from '../books-desk.ts';
import { OpsProblem } from '../ops-problem.ts';
import { receiptAnswer } from '../schemas/answer-schemas.ts';
import {
  booksAnswer,
  entriesQuery,
  ledgerLineAnswer,
  refusalsAnswer,
  refusalsQuery,
  requestsAnswer,
  requestsQuery,
} from '../schemas/books-schemas.ts';
import { sendLines } from '../send-lines.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';
import { checkSubjects } from './check-subjects.ts';

export interface BooksRoutesOptions {
  readonly directory: Directory;
  readonly books: BooksDesk;
}

/** What the books say about requests, refusals and themselves. */
export function createBooksRoutes(options: BooksRoutesOptions): readonly AdminRoute[] {
  const { books } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/requests',
      role: 'viewer',
      summary: 'Requests, the newest first, page by page',
      query: requestsQuery,
      answer: requestsAnswer,
      async handle({ query, signal }) {
        await checkSubjects(options, query, signal);
        return { status: 200, body: await books.listRequests(query, signal) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/requests/{id}',
      role: 'viewer',
      summary: 'The receipt of one request',
      answer: receiptAnswer,
      async handle({ id, signal }) {
        const receipt = await books.findReceipt(id, signal);
        if (receipt === null) throw refuseUnknownRequest();
        return { status: 200, body: receipt };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/ledger',
      role: 'viewer',
      summary: 'The entries of the ledger as lines of JSON, the oldest first',
      query: entriesQuery,
      answer: 'application/x-ndjson',
      part: ledgerLineAnswer,
      async handle({ query, signal }) {
        await checkSubjects(options, query, signal);
        return { stream: (response) => sendLines(response, books.listEntries(query, signal)) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/refusals',
      role: 'viewer',
      summary: 'How many requests were refused',
      query: refusalsQuery,
      answer: refusalsAnswer,
      async handle({ query, signal }) {
        await checkSubjects(options, query, signal);
        return { status: 200, body: await books.listRefusals(query, signal) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/books',
      role: 'viewer',
      summary: 'The state of the books',
      answer: booksAnswer,
      async handle({ signal }) {
        return { status: 200, body: await books.readStatus(signal) };
      },
    }),
  ];
}

function refuseUnknownRequest(): OpsProblem {
  return new OpsProblem(
    404,
    'request_not_found',
    'the ledger has no such request: of those that were refused before they were admitted only a few have a receipt',
  );
}
