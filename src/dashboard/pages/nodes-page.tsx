import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { measureProcesses } from './nodes/measure-processes.ts';
import { NodeView } from './nodes/node-view.tsx';
import { ProcessTable } from './nodes/process-table.tsx';
import { readMetrics } from './nodes/read-metrics.ts';

const CLUSTER_REFRESH_MS = 2_000;
/** Longer, because a scrape asks every worker. */
const METRICS_REFRESH_MS = 5_000;

export function NodesPage() {
  const cluster = useLoad((signal) => api.readCluster(signal), { refreshMs: CLUSTER_REFRESH_MS });
  const processes = useLoad(async (signal) => measureProcesses(await readMetrics(signal)), {
    refreshMs: METRICS_REFRESH_MS,
  });
  return (
    <>
      <LoadView load={cluster}>{(value) => <NodeView cluster={value} />}</LoadView>
      <h2>Memory and lag</h2>
      <LoadView load={processes}>{(value) => <ProcessTable processes={value} />}</LoadView>
    </>
  );
}
