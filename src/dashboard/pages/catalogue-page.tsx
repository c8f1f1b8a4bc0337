import { useState } from 'preact/hooks';
import type { CatalogueReport, CatalogueResult } from '../api/api-types.ts';
import { mayAct } from '../api/session.ts';
import { formatTime } from '../format.ts';
import { useLoad } from '../loading/use-load.ts';
import { Facts } from '../parts/facts.tsx';
import { LoadView } from '../parts/load-view.tsx';
import { Moment } from '../parts/moment.tsx';
import { CatalogueEditor } from './catalogue/catalogue-editor.tsx';
import { CatalogueNotices } from './catalogue/catalogue-notices.tsx';
import { describeAuthor } from './catalogue/describe-version.ts';
import { DocumentTables } from './catalogue/document-tables.tsx';
import { type CatalogueLoad, readCatalogue } from './catalogue/read-catalogue.ts';
import { RollBackDialog } from './catalogue/roll-back-dialog.tsx';
import { VersionTable } from './catalogue/version-table.tsx';

const REFRESH_MS = 5_000;

export function CataloguePage() {
  const load = useLoad(readCatalogue, { refreshMs: REFRESH_MS });
  const [result, setResult] = useState<CatalogueResult | undefined>();
  /** The version that the editor began with. It stays while the page keeps reading. */
  const [edited, setEdited] = useState<CatalogueReport | undefined>();
  const [backTo, setBackTo] = useState<number | undefined>();
  const finish = (done: CatalogueResult) => {
    setResult(done);
    setEdited(undefined);
    load.reload();
  };
  return (
    <LoadView load={load}>
      {(state) => (
        <>
          <CatalogueNotices state={state} />
          <p role="status">{result !== undefined && describeResult(result)}</p>
          {state.last.rules === 'store' && <SoldFacts state={state} />}
          {mayAct('operator') && state.last.rules === 'store' && edited === undefined && (
            <div class="bar-of-buttons">
              <button type="button" onClick={() => setEdited(state.last)}>
                Change the catalogue
              </button>
            </div>
          )}
          {edited !== undefined && (
            <CatalogueEditor
              first={edited}
              onApplied={finish}
              onClose={() => setEdited(undefined)}
            />
          )}
          {state.sold !== undefined && <DocumentTables document={state.sold} />}
          {state.last.rules === 'store' && (
            <>
              <h2>Versions</h2>
              <VersionTable versions={state.versions} onRollBack={setBackTo} />
            </>
          )}
          {backTo !== undefined && (
            <RollBackDialog
              version={backTo}
              last={state.last.version ?? 0}
              onRolledBack={finish}
              onClose={() => {
                setBackTo(undefined);
                load.reload();
              }}
            />
          )}
        </>
      )}
    </LoadView>
  );
}

function SoldFacts({ state: { last, versions } }: { readonly state: CatalogueLoad }) {
  const sold = versions.find(({ version }) => version === last.sold_version);
  return (
    <Facts
      facts={[
        { name: 'In force', value: `version ${last.sold_version}` },
        ...(sold === undefined
          ? []
          : [
              { name: 'Since', value: <Moment iso={sold.from} /> },
              { name: 'Applied', value: <Moment iso={sold.applied_at} /> },
              { name: 'By', value: describeAuthor(sold) },
            ]),
      ]}
    />
  );
}

function describeResult({ version, from }: CatalogueResult): string {
  const isWaiting = from !== null && Date.parse(from) > Date.now();
  return isWaiting
    ? `Version ${version} is applied and holds from ${formatTime(from)}.`
    : `Version ${version} is applied.`;
}
