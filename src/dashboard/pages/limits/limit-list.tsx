import { useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import { type Load, useLoad } from '../../loading/use-load.ts';
import { LimitGauge } from '../../parts/limits/limit-gauge.tsx';
import { LoadView } from '../../parts/load-view.tsx';
import { describeLimits, describeSharedLimits, type GaugedLimit } from './describe-limits.ts';
import { EndUserForm } from './end-user-form.tsx';

const REFRESH_MS = 2_000;

/** Shows how much of each limit of a key is used now, and of those of one of its end users. */
export function KeyLimitList({ id }: { readonly id: string }) {
  const [user, setUser] = useState('');
  const query = user === '' ? {} : { user };
  const load = useLoad((signal) => api.readKeyLimits(id, query, signal), {
    of: [id, user],
    refreshMs: REFRESH_MS,
  });
  return (
    <>
      <LimitList load={load} describe={describeLimits} />
      <EndUserForm onChosen={setUser} />
    </>
  );
}

/** Shows how much is used of the limits that all keys of an account or a group meet. */
export function SharedLimitList({
  of,
  id,
}: {
  readonly of: 'account' | 'group';
  readonly id: string;
}) {
  const read = of === 'account' ? api.readAccountLimits : api.readGroupLimits;
  const load = useLoad((signal) => read(id, signal), { of: [id], refreshMs: REFRESH_MS });
  return <LimitList load={load} describe={(limits) => describeSharedLimits(limits, of)} />;
}

interface LimitListProps<Limits> {
  readonly load: Load<Limits>;
  readonly describe: (limits: Limits) => readonly GaugedLimit[];
}

function LimitList<Limits>({ load, describe }: LimitListProps<Limits>) {
  return (
    <>
      <h2>Limits now</h2>
      <LoadView load={load}>
        {(limits) => (
          <div class="gauges">
            {describe(limits).map(({ title, used, max, text }) => (
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
