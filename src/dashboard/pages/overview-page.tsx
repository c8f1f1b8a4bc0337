import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { ClusterHealth } from './overview/cluster-health.tsx';
import { LastDay } from './overview/last-day.tsx';
import { LiveTraffic } from './overview/live-traffic.tsx';

const REFRESH_MS = 2_000;

export function OverviewPage() {
  const cluster = useLoad((signal) => api.readCluster(signal), { refreshMs: REFRESH_MS });
  return (
    <>
      <LastDay />
      <LiveTraffic />
      <LoadView load={cluster}>{(value) => <ClusterHealth cluster={value} />}</LoadView>
    </>
  );
}
