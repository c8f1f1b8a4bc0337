import { formatMs } from '../../format.ts';
import { Moment } from '../../parts/moment.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { listPhases, type Phase, type RequestTimes } from './list-phases.ts';

const WIDTH = 100;
const HEIGHT = 8;
/** Keeps phases of less than a millisecond visible. */
const BAR_WIDTH_MIN = 1;

export function RequestTimeline({ times }: { readonly times: RequestTimes }) {
  return (
    <>
      <p>
        Began <Moment iso={times.started_at} /> and took {formatMs(times.total_ms)}:{' '}
        {formatMs(times.upstream_wait_ms)} of waiting for upstreams and{' '}
        {formatMs(times.client_wait_ms)} for the client.
      </p>
      <DataTable
        caption="Phases, from the head of the request"
        rows={listPhases(times)}
        keyOf={({ name }) => name}
        emptyText="No phase is known"
        columns={[
          { title: 'Phase', cell: ({ name }) => name },
          { title: 'From', cell: ({ fromMs }) => formatMs(fromMs), isNumber: true },
          { title: 'To', cell: ({ toMs }) => formatMs(toMs), isNumber: true },
          { title: 'Took', cell: ({ fromMs, toMs }) => formatMs(toMs - fromMs), isNumber: true },
          { title: 'Share', cell: (phase) => <Bar phase={phase} totalMs={times.total_ms} /> },
        ]}
      />
    </>
  );
}

/** Sizes are attributes, because the content security policy allows no inline styles. */
function Bar({ phase, totalMs }: { readonly phase: Phase; readonly totalMs: number }) {
  const scale = WIDTH / Math.max(1, totalMs);
  const width = Math.max(BAR_WIDTH_MIN, (phase.toMs - phase.fromMs) * scale);
  const x = Math.min(phase.fromMs * scale, WIDTH - width);
  return (
    <svg
      class="bar"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect x={x} y={0} width={width} height={HEIGHT} />
    </svg>
  );
}
