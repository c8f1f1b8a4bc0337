import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { openPlace, placeQuery } from '../route.ts';
import { NodeView } from './nodes/node-view.tsx';
import { FleetHealth } from './overview/fleet-health.tsx';
import { LastDay } from './overview/last-day.tsx';
import { LiveTraffic } from './overview/live-traffic.tsx';
import { NodeField } from './overview/node-field.tsx';

const REFRESH_MS = 2_000;

/** The address names the node if only one is shown. */
export function OverviewPage() {
  const node = new URLSearchParams(placeQuery.value).get('node') ?? undefined;
  const cluster = useLoad((signal) => api.readCluster(signal), { refreshMs: REFRESH_MS });
  const show = (chosen: string | undefined) =>
    openPlace(
      chosen === undefined ? '/overview' : `/overview?${new URLSearchParams({ node: chosen })}`,
    );
  return (
    <>
      <LastDay />
      <h2>Live</h2>
      <NodeField node={node} nodes={cluster.value?.nodes ?? []} onChange={show} />
      <LiveTraffic node={node} />
      {node === undefined ? (
        <LoadView load={cluster}>{(value) => <FleetHealth cluster={value} />}</LoadView>
      ) : (
        <NodeView id={node} />
      )}
    </>
  );
}
