import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { FleetReload } from '../../api/api-types.ts';
import { useAction } from '../../loading/use-action.ts';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { Problem } from '../../parts/problem.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { nameNode } from './name-node.ts';

const TONES: Readonly<Record<string, Tone>> = {
  reloaded: 'good',
  refused: 'bad',
  failed: 'bad',
  silent: 'bad',
};

interface ReloadAllProps {
  /** How many nodes run. */
  readonly running: number;
  readonly onReloaded: () => void;
}

/** Makes all nodes reload their settings, and shows the result. */
export function ReloadAll({ running, onReloaded }: ReloadAllProps) {
  const [isOpen, setOpen] = useState(false);
  const [result, setResult] = useState<FleetReload | undefined>();
  // It may take hours, so it does not keep the dialog open.
  const reload = useAction(async () => {
    setResult(undefined);
    setResult(await api.reloadNodes());
    onReloaded();
  });
  return (
    <>
      <div class="bar-of-buttons">
        <button type="button" disabled={reload.isRunning} onClick={() => setOpen(true)}>
          Reload all
        </button>
      </div>
      <p role="status">
        {reload.isRunning && 'The nodes are reloading their settings.'}
        {result !== undefined && summarise(result)}
      </p>
      <Problem problem={reload.problem} />
      {result !== undefined && <ReloadTable result={result} />}
      {isOpen && (
        <ConfirmDialog
          title="Reload all nodes?"
          subject={running === 1 ? '1 node' : `${running} nodes`}
          verb="Reload"
          onClose={() => setOpen(false)}
          onConfirm={async () => reload.run()}
        >
          Each node reads its settings anew, one after the other. If one refuses them, those after
          it are not reloaded.
        </ConfirmDialog>
      )}
    </>
  );
}

function summarise({ nodes }: FleetReload): string {
  const ended = nodes.find(({ status }) => status !== 'reloaded');
  return ended === undefined
    ? 'All nodes have taken over their settings.'
    : `The reload ended at node ${nameNode(ended.id)}: see below.`;
}

function ReloadTable({ result }: { readonly result: FleetReload }) {
  return (
    <DataTable
      caption="Result of the reload"
      rows={result.nodes}
      keyOf={({ id }) => id}
      emptyText="No node runs"
      columns={[
        { title: 'Node', cell: ({ id }) => <span title={id}>{nameNode(id)}</span> },
        { title: 'Result', cell: ({ status }) => <Badge state={status} tone={TONES[status]} /> },
        {
          title: 'Settings',
          cell: ({ config_version: version }) =>
            version === undefined ? '–' : <code>{version}</code>,
        },
        {
          title: 'Problems',
          cell: ({ problems = [] }) => (problems.length === 0 ? '–' : <Problems of={problems} />),
          isProse: true,
        },
      ]}
    />
  );
}

function Problems({ of: problems }: { readonly of: readonly string[] }) {
  return (
    <ul class="changes">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}
