import { api } from '../api/api.ts';
import { mayAct } from '../api/session.ts';
import { useLoad } from '../loading/use-load.ts';
import { LoadView } from '../parts/load-view.tsx';
import { FleetNotices } from './nodes/fleet-notices.tsx';
import { MemberTable } from './nodes/member-table.tsx';
import { ReloadAll } from './nodes/reload-all.tsx';

const REFRESH_MS = 2_000;

export function NodesPage() {
  const load = useLoad((signal) => api.readCluster(signal), { refreshMs: REFRESH_MS });
  return (
    <LoadView load={load}>
      {(cluster) => (
        <>
          <FleetNotices cluster={cluster} />
          <MemberTable cluster={cluster} detail="full" />
          {mayAct('operator') && (
            <ReloadAll
              running={cluster.nodes.filter(({ state }) => state !== 'gone').length}
              onReloaded={load.reload}
            />
          )}
        </>
      )}
    </LoadView>
  );
}
