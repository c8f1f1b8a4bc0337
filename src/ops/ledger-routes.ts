import type { AdminRoute, AdminRouteOptions } from './admin-route.ts';
import { parseInput } from './admin-schemas.ts';
import { ledgerQuery, usageQuery } from './ledger-schemas.ts';
import { OpsProblem } from './ops-problem.ts';

export function createLedgerRoutes(
  options: Pick<AdminRouteOptions, 'directory' | 'ledger'>,
): readonly AdminRoute[] {
  const { directory, ledger } = options;

  /** A wrong id is told, and not taken for one that used nothing. */
  const checkSubjects = async ({ account, key }: Subjects) => {
    if (account !== undefined) await directory.getAccount(account);
    if (key !== undefined) await directory.getKey(key);
  };

  return [
    {
      method: 'GET',
      path: '/admin/v1/usage',
      async handle({ query }) {
        const asked = parseInput(usageQuery, query);
        await checkSubjects(asked);
        return { status: 200, body: await ledger.sumUsage(asked) };
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/ledger',
      async handle({ query }) {
        const filter = parseInput(ledgerQuery, query);
        await checkSubjects(filter);
        return { status: 200, lines: ledger.listEntries(filter) };
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/requests/{id}',
      async handle({ id }) {
        const receipt = await ledger.findReceipt(id);
        if (receipt === undefined) throw refuseUnknownRequest();
        return { status: 200, body: receipt };
      },
    },
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
