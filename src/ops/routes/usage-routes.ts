import type { Directory } from '../../accounts/directory.ts';
import type { BooksDesk } from '../books-desk.ts';
import { OpsProblem } from '../ops-problem.ts';
import {
  statementAnswer,
  statementFormat,
  usageAnswer,
  usageQuery,
} from '../schemas/usage-schemas.ts';
import { sendLines } from '../send-lines.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';
import { checkSubjects } from './check-subjects.ts';

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

interface UsageRoutesOptions {
  readonly directory: Directory;
  readonly books: Pick<
    BooksDesk,
    'knowsKey' | 'printUsage' | 'exportUsage' | 'readStatement' | 'printStatement'
  >;
}

/** What was used and charged, and the statements of accounts. */
export function createUsageRoutes(options: UsageRoutesOptions): readonly AdminRoute[] {
  const { directory, books } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/usage',
      role: 'viewer',
      summary: 'Requests, tokens and charges, by one or two of day, hour, account, key and more',
      query: usageQuery,
      answer: usageAnswer,
      otherAnswers: ['text/csv'],
      async handle({ query: { format, ...query }, signal }) {
        await checkSubjects(options, query, signal);
        if (format === 'json') {
          const pieces = books.printUsage(query, signal);
          const json = { contentType: 'application/json' } as const;
          return { stream: (response) => sendLines(response, pieces, json) };
        }
        const lines = books.exportUsage(query, signal);
        const file = { contentType: 'text/csv; charset=utf-8', fileName: 'usage.csv' } as const;
        return { stream: (response) => sendLines(response, lines, file) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/accounts/{id}/statements/{month}',
      role: 'viewer',
      summary: 'What an account had, paid and used in one month',
      query: statementFormat,
      answer: statementAnswer,
      otherAnswers: ['text/csv', 'text/html'],
      async handle({ id, month, query: { format }, signal }) {
        if (!MONTH.test(month)) throw refuseMonth(month);
        const { id: account } = await directory.getAccount(id);
        const query = { account, month };
        if (format === 'json') {
          return { status: 200, body: await books.readStatement(query, signal) };
        }
        const parts = books.printStatement({ ...query, format }, signal);
        if (format === 'html') {
          const page = { contentType: 'text/html; charset=utf-8' } as const;
          return { stream: (response) => sendLines(response, parts, page) };
        }
        const fileName = `statement-${account}-${month}.csv`;
        const file = { contentType: 'text/csv; charset=utf-8', fileName } as const;
        return { stream: (response) => sendLines(response, parts, file) };
      },
    }),
  ];
}

function refuseMonth(month: string): OpsProblem {
  return new OpsProblem(400, 'invalid_month', `${month} is not a month such as 2027-01`);
}
