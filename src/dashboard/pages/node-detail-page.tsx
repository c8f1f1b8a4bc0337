import { api } from '../api/api.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { measureProcesses } from './nodes/measure-processes.ts';
import { NodeView } from './nodes/node-view.tsx';
import { ProcessTable } from './nodes/process-table.tsx';
import { readMetrics } from './nodes/read-metrics.ts';
import type { PageProps } from './page-props.ts';

/** Long, because a scrape asks every worker. */
const METRICS_REFRESH_MS = 5_000;

export function NodeDetailPage({ id }: PageProps) {
  const cluster = useLoad((signal) => api.readCluster(signal));
  return (
    <>
      <NodeView id={id} />
      {cluster.value?.answered_by === id && <Processes />}
    </>
  );
}

/** Only the node that answers can be asked for its metrics. */
function Processes() {
  const load = useLoad(async (signal) => measureProcesses(await readMetrics(signal)), {
    refreshMs: METRICS_REFRESH_MS,
  });
  return (
    <>
      <h2>Memory and lag</h2>
      <LoadView load={load}>{(value) => <ProcessTable processes={value} />}</LoadView>
    </>
  );
}
