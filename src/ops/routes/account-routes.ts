import type { Account } from '../../accounts/account.ts';
import type { Directory } from '../../accounts/directory.ts';
import { DirectoryError } from '../../accounts/directory-error.ts';
import type { AccountSearch } from '../../books/questions/search-accounts.ts';
import { creditsOf } from '../../lib/units/micros.ts';
import { encodeSharedLimits } from '../../protocol/rates/shared-limits.ts';
import type { BooksDesk } from '../books-desk.ts';
import type { FleetDesk } from '../fleet-desk.ts';
import { requireLists } from '../require-lists.ts';
import type { AdminSchemas } from '../schemas/admin-schemas.ts';
import { showAccount } from '../schemas/admin-views.ts';
import {
  accountAnswer,
  accountsAnswer,
  paymentAnswer,
  sharedLimitsAnswer,
} from '../schemas/answer-schemas.ts';
import { type AdminRoute, defineAdminRoute } from './admin-route.ts';

interface AccountRoutesOptions {
  readonly directory: Directory;
  readonly fleet: Pick<FleetDesk, 'findNodesWithoutLists'>;
  readonly books: Pick<BooksDesk, 'searchAccounts'>;
  /** The rules of the settings in use. */
  readonly rateRules: () => Parameters<Directory['describeAccount']>[1];
  readonly schemas: AdminSchemas;
}

export function createAccountRoutes(options: AccountRoutesOptions): readonly AdminRoute[] {
  const { directory, fleet, schemas } = options;
  return [
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/accounts',
      role: 'viewer',
      summary: 'List accounts, page by page',
      query: schemas.accountsQuery,
      answer: accountsAnswer,
      async handle({ query: { search, ...query }, signal }) {
        const page =
          search === undefined
            ? await directory.listAccounts(query)
            : await searchAccounts(options, { ...query, search }, signal);
        return {
          status: 200,
          body: { data: page.accounts.map(showAccount), next: page.next ?? null },
        };
      },
    }),
    defineAdminRoute({
      method: 'POST',
      path: '/admin/v1/accounts',
      role: 'billing',
      summary: 'Create an account',
      changes: 'account.create',
      body: schemas.createAccount,
      answer: accountAnswer,
      async handle({ body }) {
        await requireLists(fleet, body);
        const account = await directory.createAccount(body);
        const after = showAccount(account);
        return { status: 201, body: after, change: { account: account.id, after } };
      },
    }),
    defineAdminRoute({
      method: 'GET',
      path: '/admin/v1/accounts/{id}',
      role: 'viewer',
      summary: 'Show an account',
      answer: accountAnswer,
      async handle({ id }) {
        return { status: 200, body: showAccount(await directory.getAccount(id)) };
      },
    }),
    defineAdminRoute({
      method: 'PATCH',
      path: '/admin/v1/accounts/{id}',
      role: 'billing',
      summary: 'Change an account',
      changes: namePatch,
      body: schemas.patchAccount,
      answer: accountAnswer,
      async handle({ id, body: { patch, baseVersion } }) {
        await requireLists(fleet, patch);
        const changed = await directory.patchAccount(id, patch, baseVersion);
        const [before, after] = [showAccount(changed.before), showAccount(changed.after)];
        return { status: 200, body: after, change: { account: id, before, after } };
      },
    }),
    createLimitsRoute(options),
    createPaymentRoute(options),
  ];
}

/** The books find the accounts; their figures are in Redis. */
async function searchAccounts(
  { directory, books }: AccountRoutesOptions,
  query: AccountSearch,
  signal: AbortSignal,
) {
  const { ids, next } = await books.searchAccounts(query, signal);
  const found = await Promise.all(ids.map((id) => getIfAny(directory, id)));
  return { accounts: found.filter((account) => account !== undefined), next };
}

/** The books may know an account that Redis has lost. */
async function getIfAny(directory: Directory, id: string): Promise<Account | undefined> {
  try {
    return await directory.getAccount(id);
  } catch (error) {
    if (error instanceof DirectoryError && error.code === 'account_not_found') return undefined;
    throw error;
  }
}

/** A change of the status names the whole change, whatever else changes with it. */
function namePatch(body: unknown): string {
  switch ((body as { readonly status?: unknown } | null)?.status) {
    case 'suspended':
      return 'account.suspend';
    case 'active':
      return 'account.resume';
    default:
      return 'account.set';
  }
}

function createLimitsRoute({ directory, rateRules }: AccountRoutesOptions): AdminRoute {
  return defineAdminRoute({
    method: 'GET',
    path: '/admin/v1/accounts/{id}/limits',
    role: 'viewer',
    summary: 'Show what is left of the limits that all keys of an account meet',
    answer: sharedLimitsAnswer,
    async handle({ id }) {
      const limits = await directory.describeAccount(id, rateRules());
      return { status: 200, body: { account: id, group: null, ...encodeSharedLimits(limits) } };
    },
  });
}

function createPaymentRoute({ directory, schemas }: AccountRoutesOptions): AdminRoute {
  return defineAdminRoute({
    method: 'POST',
    path: '/admin/v1/accounts/{id}/credits',
    role: 'billing',
    summary: 'Enter a payment, once for each id',
    changes: 'credits.add',
    body: schemas.addCredits,
    answer: paymentAnswer,
    describeUnknown: ({ id, body }) => ({
      ...{ id: body.id, account: id, amount: creditsOf(body.amount), note: body.note },
    }),
    async handle({ id, body: { amount: micros, id: paymentId, note } }) {
      const entered = await directory.addCredits(id, { micros, id: paymentId, note });
      const payment = { id: paymentId, account: id, amount: creditsOf(micros) };
      const balance = creditsOf(entered.balanceMicros);
      const { isRepeated, replicated } = entered;
      const change = {
        account: id,
        before: { balance: creditsOf(entered.balanceMicros - micros) },
        after: { ...payment, note, balance },
      };
      return {
        status: 200,
        body: { ...payment, balance, repeated: isRepeated, replicated },
        ...(!isRepeated && { change }),
      };
    },
  });
}
