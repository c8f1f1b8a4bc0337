import { useState } from 'preact/hooks';
import { api } from '../api/api.ts';
import { mayAct } from '../api/session.ts';
import { useLoad } from '../loading/use-load.ts';
import { showSecret } from '../new-secrets.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { LoadView } from '../parts/load-view.tsx';
import { OperatorForm } from './operators/operator-form.tsx';
import { OperatorTable, type Revocable, SessionTable } from './operators/operator-tables.tsx';

export function OperatorsPage() {
  const load = useLoad((signal) => api.listOperators(signal));
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<Revocable | undefined>();
  const onRevoke = mayAct('operator') ? setRevoked : undefined;
  return (
    <>
      {mayAct('operator') && (
        <p>
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create an operator
          </button>
        </p>
      )}
      <LoadView load={load}>
        {({ data, sessions }) => (
          <>
            <OperatorTable rows={data} onRevoke={onRevoke} />
            <SessionTable rows={sessions} onRevoke={onRevoke} />
          </>
        )}
      </LoadView>
      {isCreating && (
        <OperatorForm
          onClose={() => setCreating(false)}
          onSubmit={async (details) => {
            const { name, token } = await api.createOperator(details);
            showSecret({ title: `Token of ${name}`, secret: token, kind: 'token' });
            load.reload();
          }}
        />
      )}
      {revoked !== undefined && (
        <ConfirmDialog
          title="Revoke this access?"
          subject={`${revoked.name} (${revoked.id})`}
          verb="Revoke"
          onClose={() => setRevoked(undefined)}
          onConfirm={async () => {
            await api.revokeOperator(revoked.id);
            load.reload();
          }}
        >
          It is refused on every node from now on. This is final.
        </ConfirmDialog>
      )}
    </>
  );
}
