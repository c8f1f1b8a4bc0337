import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account, Key } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import { formatCreditAmount } from '../../format.ts';
import { useLoad } from '../../loading/use-load.ts';
import { showSecret } from '../../new-secrets.ts';
import { Badge } from '../../parts/badge.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { NO_CONTROLS } from '../key/control-texts.ts';
import { ControlsForm } from '../key/controls-form.tsx';
import { nameKey } from '../key/name-key.ts';
import { ShownRows } from './shown-rows.tsx';

export function AccountKeys({ account: { id, name } }: { readonly account: Account }) {
  const keys = useLoad((signal) => api.listKeys(id, signal), { of: [id] });
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <h2>Keys</h2>
      {mayAct('operator') && (
        <p>
          <button type="button" onClick={() => setCreating(true)}>
            Create a key
          </button>
        </p>
      )}
      <LoadView load={keys}>
        {({ data }) => (
          <ShownRows rows={data.toReversed()}>
            {(rows) => <KeysTable account={name} keys={rows} />}
          </ShownRows>
        )}
      </LoadView>
      {isCreating && (
        <ControlsForm
          title={`Create a key of ${name}`}
          verb="Create"
          before={NO_CONTROLS}
          onClose={() => setCreating(false)}
          onSubmit={async (controls) => {
            const created = await api.createKey(id, controls);
            showSecret({ title: `New key: ${nameKey(created)}`, secret: created.key, kind: 'key' });
            setCreating(false);
            keys.reload();
          }}
        />
      )}
    </>
  );
}

function KeysTable({ account, keys }: { readonly account: string; readonly keys: readonly Key[] }) {
  return (
    <DataTable
      caption={`Keys of ${account}, the newest first`}
      rows={keys}
      keyOf={({ id }) => id}
      emptyText="This account has no key yet"
      columns={[
        { title: 'Key', cell: (key) => <a href={`#/keys/${key.id}`}>{nameKey(key)}</a> },
        { title: 'Status', cell: (key) => <Badge state={key.status} /> },
        {
          title: 'Spent this month',
          cell: (key) => formatCreditAmount(key.spent_this_month),
          isNumber: true,
        },
        {
          title: 'Monthly cap',
          cell: ({ monthly_cap: cap }) => (cap === null ? 'none' : formatCreditAmount(cap)),
          isNumber: true,
        },
        { title: 'Held', cell: ({ held }) => formatCreditAmount(held), isNumber: true },
        { title: 'Created', cell: (key) => <Moment iso={key.created_at} /> },
      ]}
    />
  );
}
