import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { LoadView } from '../../parts/load-view.tsx';
import { NodeReport } from './node-report.tsx';

const REFRESH_MS = 2_000;

/** Reads one node again and again. A node that is gone shows what it last reported. */
export function NodeView({ id }: { readonly id: string }) {
  const load = useLoad((signal) => api.readNode(id, signal), { of: [id], refreshMs: REFRESH_MS });
  return <LoadView load={load}>{(node) => <NodeReport detail={node} />}</LoadView>;
}
