import { api } from '../api/api.ts';
import { LoadView } from '../parts/load-view.tsx';
import { useLoad } from '../use-load.ts';
import { ClusterHealth } from './overview/cluster-health.tsx';
import { LiveTraffic } from './overview/live-traffic.tsx';

const REFRESH_MS = 2_000;

export function OverviewPage() {
  const cluster = useLoad((signal) => api.readCluster(signal), { refreshMs: REFRESH_MS });
  return (
    <>
      <LiveTraffic />
      <LoadView load={cluster}>{(value) => <ClusterHealth cluster={value} />}</LoadView>
    </>
  );
}
