import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { Account, KeyList } from '../../api/api-types.ts';
import { mayAct } from '../../api/session.ts';
import type { Load } from '../../loading/use-load.ts';
import { showSecret } from '../../new-secrets.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { NO_CONTROLS } from '../key/control-texts.ts';
import { ControlsForm } from '../key/controls-form.tsx';
import { KeysTable } from '../key/keys-table.tsx';
import { nameKey } from '../key/name-key.ts';
import { ShownRows } from './shown-rows.tsx';

interface AccountKeysProps {
  readonly account: Account;
  readonly keys: Load<KeyList>;
}

export function AccountKeys({ account: { id, name }, keys }: AccountKeysProps) {
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
            {(rows) => (
              <KeysTable owner={name} keys={rows} emptyText="This account has no key yet" />
            )}
          </ShownRows>
        )}
      </LoadView>
      {isCreating && (
        <ControlsForm
          title={`Create a key of ${name}`}
          verb="Create"
          account={id}
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
