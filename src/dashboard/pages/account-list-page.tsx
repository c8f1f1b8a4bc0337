import { useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import type { Account } from '../api/api-types.ts';
import { mayAct } from '../api/session.ts';
import { formatCreditAmount } from '../format.ts';
import { usePages } from '../loading/use-pages.ts';
import { Badge } from '../parts/badge.tsx';
import { Field } from '../parts/field.tsx';
import { Moment } from '../parts/moment.tsx';
import { PagedTable } from '../parts/tables/paged-table.tsx';
import { AccountForm } from './accounts/account-form.tsx';

const PAGE_ROWS = 50;
const NEW_ACCOUNT = { name: '', plan: '', limits: [], low_balance: null };

export function AccountListPage() {
  const [typed, setTyped] = useState('');
  const [search, setSearch] = useState('');
  const [isCreating, setCreating] = useState(false);
  const accounts = usePages(
    (after, signal) => api.listAccounts({ after, search, limit: PAGE_ROWS }, signal),
    search,
  );
  const submit = (event: Event) => {
    event.preventDefault();
    if (typed.trim() === search) accounts.reload();
    else setSearch(typed.trim());
  };
  return (
    <>
      <form class="bar-of-buttons" onSubmit={submit}>
        <Field label="Name or id">
          {(attributes) => (
            <input
              {...attributes}
              type="search"
              maxLength={100}
              value={typed}
              onInput={(event) => setTyped(event.currentTarget.value)}
            />
          )}
        </Field>
        <button type="submit">Search</button>
        {mayAct('billing') && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create an account
          </button>
        )}
      </form>
      <PagedTable
        caption={search === '' ? 'Accounts' : `Accounts found by “${search}”`}
        pages={accounts}
        keyOf={({ id }) => id}
        emptyText={
          search === '' ? 'There is no account yet' : 'No account has such a name or this id'
        }
        columns={[
          { title: 'Name', cell: (row) => <AccountName account={row} /> },
          { title: 'Plan', cell: ({ plan }) => plan },
          { title: 'Status', cell: ({ status }) => <Badge state={status} /> },
          { title: 'Balance', cell: (row) => formatCreditAmount(row.balance), isNumber: true },
          { title: 'Held', cell: (row) => formatCreditAmount(row.held), isNumber: true },
          { title: 'Created', cell: (row) => <Moment iso={row.created_at} /> },
        ]}
      />
      {isCreating && (
        <AccountForm
          title="Create an account"
          verb="Create"
          before={NEW_ACCOUNT}
          onClose={() => setCreating(false)}
          onSubmit={async (details) => {
            const { id } = await api.createAccount(details);
            location.hash = `#/accounts/${id}`;
          }}
        />
      )}
    </>
  );
}

function AccountName({ account: { id, name } }: { readonly account: Account }) {
  return (
    <>
      <a href={`#/accounts/${id}`}>{name}</a>
      <small>
        <code>{id}</code>
      </small>
    </>
  );
}
