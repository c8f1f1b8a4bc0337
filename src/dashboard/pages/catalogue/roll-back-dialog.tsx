import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import type { CatalogueResult } from '../../api/api-types.ts';
import { useLoad } from '../../loading/use-load.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { ChangeTable } from './change-table.tsx';

interface RollBackDialogProps {
  /** The version to go back to. */
  readonly version: number;
  /** The last version. */
  readonly last: number;
  readonly onRolledBack: (result: CatalogueResult) => void;
  readonly onClose: () => void;
}

export function RollBackDialog({ version, last, onRolledBack, onClose }: RollBackDialogProps) {
  // What is confirmed is what was shown, also if a newer version comes meanwhile.
  const [base] = useState(last);
  const load = useLoad((signal) => api.diffCatalogue({ from: base, to: version }, signal), {
    of: [base, version],
  });
  return (
    <ConfirmDialog
      title={`Roll back to version ${version}?`}
      subject={`Version ${base + 1} will sell what version ${version} sold, at once.`}
      verb="Roll back"
      onClose={onClose}
      onConfirm={async () => {
        onRolledBack(await api.rollBackCatalogue({ base_version: base, version }));
      }}
    >
      <p>Versions that wait for their time are withdrawn. Requests that run keep their prices.</p>
      <LoadView load={load}>
        {({ changes }) => (
          <ChangeTable caption={`What differs from version ${base}`} changes={changes} />
        )}
      </LoadView>
    </ConfirmDialog>
  );
}
