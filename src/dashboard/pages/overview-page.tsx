import { api } from '../api/api.ts';
import { Loaded } from '../parts/loaded.tsx';
import { useLoad } from '../use-load.ts';
import { ClusterHealth } from './overview/cluster-health.tsx';
import { LiveTraffic } from './overview/live-traffic.tsx';

const REFRESH_MS = 2_000;

export function OverviewPage() {
  const cluster = useLoad((signal) => api.readCluster(signal), { refreshMs: REFRESH_MS });
  return (
    <>
      <LiveTraffic />
      <Loaded load={cluster}>{(value) => <ClusterHealth cluster={value} />}</Loaded>
    </>
  );
}
