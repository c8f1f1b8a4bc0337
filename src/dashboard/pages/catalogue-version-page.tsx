import { api } from '../api/api.ts';
import type { CatalogueDiff, CatalogueVersion } from '../api/api-types.ts';
import { useLoad } from '../loading/use-load.ts';
import { usePageName } from '../page-name.ts';
import { Facts } from '../parts/facts.tsx';
import { LoadView } from '../parts/load-view.tsx';
import { Moment } from '../parts/moment.tsx';
import { ChangeTable } from './catalogue/change-table.tsx';
import { describeAuthor, describeOrigin } from './catalogue/describe-version.ts';
import { DocumentTables } from './catalogue/document-tables.tsx';
import type { PageProps } from './page-props.ts';

interface ShownVersion {
  readonly shown: CatalogueVersion;
  /** Undefined if the version before it is not kept. */
  readonly diff: CatalogueDiff | undefined;
}

/** One version in full, with what it changed. */
export function CatalogueVersionPage({ id }: PageProps) {
  usePageName(`Version ${id} of the catalogue`);
  const load = useLoad((signal) => readVersion(id, signal), { of: [id] });
  return (
    <LoadView load={load}>
      {({ shown, diff }) => (
        <>
          <Facts
            facts={[
              { name: 'Holds from', value: <Moment iso={shown.from} /> },
              { name: 'Applied', value: <Moment iso={shown.applied_at} /> },
              { name: 'By', value: describeAuthor(shown) },
              { name: 'How', value: describeOrigin(shown) },
            ]}
          />
          {diff !== undefined && (
            <ChangeTable
              caption={`What changed since version ${diff.from}`}
              changes={diff.changes}
            />
          )}
          <DocumentTables document={shown.catalogue} />
        </>
      )}
    </LoadView>
  );
}

async function readVersion(id: string, signal: AbortSignal): Promise<ShownVersion> {
  const shown = await api.readCatalogueVersion(id, signal);
  const { data } = await api.listCatalogueVersions(signal);
  const before = data.find(({ version }) => version === shown.version - 1)?.version;
  if (before === undefined) return { shown, diff: undefined };
  return { shown, diff: await api.diffCatalogue({ from: before, to: shown.version }, signal) };
}
