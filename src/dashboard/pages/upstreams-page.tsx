import { useEffect } from 'preact/hooks';
import { api } from '../api/api.ts';
import { listenToEvents } from '../api/events.ts';
import { useLoad } from '../loading/use-load.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { LoadView } from '../parts/load-view.tsx';
import { UpstreamView } from './upstreams/upstream-view.tsx';

const REFRESH_MS = 2_000;

/** Shows a change of health at once, and everything else every two seconds. */
export function UpstreamsPage() {
  const load = useLoad(
    async (signal) => {
      const [{ upstreams }, { data: models }] = await Promise.all([
        api.readCluster(signal),
        api.listModels(signal),
      ]);
      return { upstreams, models };
    },
    { refreshMs: REFRESH_MS },
  );
  const { reload } = load;
  useEffect(
    () =>
      listenToEvents(({ event }) => {
        if (event === 'upstream') reload();
      }),
    [reload],
  );
  return (
    <LoadView load={load}>
      {({ upstreams, models }) =>
        upstreams.length === 0 ? (
          <EmptyState title="No upstream is configured" />
        ) : (
          <>
            <p class="quiet">
              As the node that answers sees them. <a href="#/nodes">Nodes</a> has the others.
            </p>
            {upstreams.map((upstream) => (
              <UpstreamView key={upstream.name} upstream={upstream} models={models} />
            ))}
          </>
        )
      }
    </LoadView>
  );
}
