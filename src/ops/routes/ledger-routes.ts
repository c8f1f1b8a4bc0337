import type { Directory } from '../../accounts/directory.ts';
import type { LedgerDesk } from '../../ledger/create-ledger-desk.ts';
import { OpsProblem } from '../ops-problem.ts';
import { receiptAnswer, usageAnswer } from '../schemas/answer-schemas.ts';
import { ledgerQuery, usageQuery } from '../schemas/ledger-schemas.ts';
import { sendLines } from '../send-lines.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

interface LedgerRoutesOptions {
  readonly directory: Directory;
  readonly ledger: LedgerDesk;
}

export function createLedgerRoutes(options: LedgerRoutesOptions): readonly AdminRoute[] {
  const { directory, ledger } = options;

  /** A wrong id is refused. Without this check it would look like an id without usage. */
  const checkSubjects = async ({ account, key }: Subjects) => {
    if (account !== undefined) await directory.getAccount(account);
    if (key !== undefined) await directory.getKey(key);
  };

  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/usage',
      summary: 'Requests, tokens and charges, summed up from the ledger',
      query: usageQuery,
      answer: usageAnswer,
      async handle({ query }) {
        await checkSubjects(query);
        return { status: 200, body: await ledger.sumUsage(query) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/ledger',
      summary: 'The entries of the ledger, as lines of JSON',
      query: ledgerQuery,
      answer: 'application/x-ndjson',
      async handle({ query }) {
        await checkSubjects(query);
        return { stream: (response) => sendLines(response, ledger.listEntries(query)) };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/requests/{id}',
      summary: 'The receipt of one request',
      answer: receiptAnswer,
      async handle({ id }) {
        const receipt = await ledger.findReceipt(id);
        if (receipt === undefined) throw refuseUnknownRequest();
        return { status: 200, body: receipt };
      },
    }),
  ];
}

interface Subjects {
  readonly account: string | undefined;
  readonly key: string | undefined;
}

function refuseUnknownRequest(): OpsProblem {
  return new OpsProblem(
    404,
    'request_not_found',
    'the ledger has no such request: one that was refused before it was admitted has no receipt, and one that another node has exported is in the ledger of that node',
  );
}
