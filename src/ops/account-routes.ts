import { creditsOf } from '../lib/micros.ts';
import type { AdminRoute, AdminRouteOptions } from './admin-route.ts';
import { parseInput } from './admin-schemas.ts';
import { showAccount } from './admin-views.ts';

export function createAccountRoutes(options: AdminRouteOptions): readonly AdminRoute[] {
  const { directory, schemas, noteChange } = options;
  return [
    {
      method: 'GET',
      path: '/admin/v1/accounts',
      async handle({ query }) {
        const { limit, after } = parseInput(schemas.pageQuery, query);
        const page = await directory.listAccounts({ limit, ...(after !== undefined && { after }) });
        return {
          status: 200,
          body: { data: page.accounts.map(showAccount), next: page.next ?? null },
        };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/accounts',
      async handle({ body }) {
        const account = await directory.createAccount(parseInput(schemas.createAccount, body));
        const after = showAccount(account);
        noteChange({ what: 'account.create', subject: account.id, after });
        return { status: 201, body: after };
      },
    },
    {
      method: 'GET',
      path: '/admin/v1/accounts/{id}',
      async handle({ id }) {
        return { status: 200, body: showAccount(await directory.getAccount(id)) };
      },
    },
    {
      method: 'PATCH',
      path: '/admin/v1/accounts/{id}',
      async handle({ id, body }) {
        const patch = parseInput(schemas.patchAccount, body);
        const changed = await directory.patchAccount(id, patch);
        const [before, after] = [showAccount(changed.before), showAccount(changed.after)];
        noteChange({ what: 'account.set', subject: id, before, after });
        return { status: 200, body: after };
      },
    },
    {
      method: 'POST',
      path: '/admin/v1/accounts/{id}/credits',
      async handle({ id, body }) {
        const { amount: micros, id: paymentId, note } = parseInput(schemas.addCredits, body);
        const entered = await directory.addCredits(id, { micros, id: paymentId, note });
        const payment = { id: paymentId, account: id, amount: creditsOf(micros) };
        const balance = creditsOf(entered.balanceMicros);
        const { isRepeated, replicated } = entered;
        if (!isRepeated) {
          noteChange({ what: 'credits.add', subject: id, after: { ...payment, note, balance } });
        }
        return { status: 200, body: { ...payment, balance, repeated: isRepeated, replicated } };
      },
    },
  ];
}
