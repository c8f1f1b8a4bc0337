import type { Cluster } from '../../api/api-types.ts';

const WORDS: Readonly<Record<keyof Cluster['versions_differ'], string>> = {
  config: 'The nodes do not have the same settings.',
  catalogue: 'The nodes do not have the same catalogue.',
  version: 'The nodes do not run the same version of Tollgate.',
};

/** Says what is wrong with the nodes as a whole. The region stays, so that it is read aloud. */
export function FleetNotices({ cluster }: { readonly cluster: Cluster }) {
  const { fleet, versions_differ: differ } = cluster;
  const found = (['config', 'catalogue', 'version'] as const).filter((what) => differ[what]);
  return (
    <div role="status">
      {fleet.state === 'out' && (
        <p class="notice">Redis does not answer, so only the node that answers is shown.</p>
      )}
      {found.map((what) => (
        <p key={what} class="notice">
          {WORDS[what]}
        </p>
      ))}
    </div>
  );
}
