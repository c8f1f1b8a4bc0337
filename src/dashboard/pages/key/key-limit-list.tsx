import { api } from '../../api/api.ts';
import { useLoad } from '../../loading/use-load.ts';
import { LimitGauge } from '../../parts/limits/limit-gauge.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { describeLimits } from './describe-limits.ts';

const REFRESH_MS = 2_000;

/** Shows how much of each limit is used now. */
export function KeyLimitList({ id }: { readonly id: string }) {
  const limits = useLoad((signal) => api.readKeyLimits(id, signal), {
    of: [id],
    refreshMs: REFRESH_MS,
  });
  return (
    <>
      <h2>Limits now</h2>
      <LoadView load={limits}>
        {(value) => (
          <div class="gauges">
            {describeLimits(value).map(({ title, used, max, text }) => (
              <LimitGauge key={title} {...{ title, used, max }}>
                {text}
              </LimitGauge>
            ))}
          </div>
        )}
      </LoadView>
    </>
  );
}
