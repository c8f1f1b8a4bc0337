import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/api.ts';
import { reopenings } from '../../api/events.ts';
import { formatCount, formatFigure, formatMs, formatName } from '../../format.ts';
import { useLoad } from '../../loading/use-load.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { Figures } from '../../parts/figures.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { listSamples, type Sample } from '../../sample.ts';
import { type ChartRange, ChartRangeField } from './chart-range-field.tsx';
import { joinHour, joinMinutes } from './join-traffic.ts';
import { countRefusals, measureTraffic, type TrafficLines } from './measure-traffic.ts';
import { useTraffic } from './use-traffic.ts';

const HISTORY_REFRESH_MS = 30_000;
const MINUTES = 5;

interface LiveTrafficProps {
  /** The id of one node; undefined for all together. */
  readonly node: string | undefined;
}

/** Shows what all nodes do, with their last hour, or one node since it was chosen. */
export function LiveTraffic({ node }: LiveTrafficProps) {
  const [range, setRange] = useState<ChartRange>('hour');
  const live = useTraffic(node);
  const history = useLoad(
    async (signal) => (node === undefined ? listSamples(await api.readHistory(signal)) : []),
    { of: [node], refreshMs: HISTORY_REFRESH_MS },
  );
  const { reload } = history;
  const opened = reopenings.value;
  useEffect(() => {
    if (opened > 0) reload();
  }, [opened, reload]);
  const rows = history.value ?? [];
  const isHour = node === undefined && range === 'hour';
  const samples = isHour ? joinHour(rows, live) : joinMinutes(rows, live, MINUTES);
  const lines = measureTraffic(samples);
  const last = live.at(-1);
  return (
    <>
      <Figures
        figures={[
          { name: 'Requests a second', value: last && formatFigure(last.requests) },
          { name: 'Streams a second', value: last && formatFigure(last.streams) },
          { name: 'Open now', value: last && formatCount(last.open) },
          { name: 'Credits a minute', value: formatIfKnown(lines.creditsPerMinute.at(-1)) },
        ]}
      />
      {node === undefined ? (
        <ChartRangeField range={range} onChange={setRange} />
      ) : (
        <p class="quiet">The lines of one node begin when you choose it.</p>
      )}
      {history.value === undefined && history.problem !== undefined && (
        <p class="quiet">The last hour cannot be read: {history.problem.message}.</p>
      )}
      <TrafficCharts lines={lines} />
      <RefusalTable samples={samples} time={isHour ? 'hour' : 'five minutes'} />
    </>
  );
}

function TrafficCharts({ lines }: { readonly lines: TrafficLines }) {
  return (
    <div class="charts">
      <Chart
        title="Requests a second"
        times={lines.times}
        series={[
          { label: 'requests', values: lines.requests },
          { label: 'streams', values: lines.streams },
          { label: 'refused', values: lines.refused },
        ]}
        format={formatFigure}
      />
      <Chart
        title="Latency"
        times={lines.times}
        series={[
          { label: 'half within', values: lines.p50 },
          { label: '90 % within', values: lines.p90 },
          { label: '99 % within', values: lines.p99 },
        ]}
        format={formatMs}
      />
      <Chart
        title="Time to the first event"
        times={lines.times}
        series={[
          { label: 'half within', values: lines.firstP50 },
          { label: '99 % within', values: lines.firstP99 },
        ]}
        format={formatMs}
      />
      <Chart
        title="Credits a minute"
        times={lines.times}
        series={[{ label: 'credits', values: lines.creditsPerMinute }]}
        format={formatFigure}
      />
    </div>
  );
}

interface RefusalTableProps {
  readonly samples: readonly Sample[];
  /** `hour`: what follows `the last`. */
  readonly time: string;
}

function RefusalTable({ samples, time }: RefusalTableProps) {
  return (
    <>
      <h3>Refusals</h3>
      <DataTable
        caption={`Refusals by reason, of the last ${time}`}
        rows={countRefusals(samples)}
        keyOf={({ name }) => name}
        emptyText="Nothing was refused"
        columns={[
          { title: 'Reason', cell: ({ name }) => formatName(name) },
          { title: 'Requests', cell: ({ count }) => formatCount(count), isNumber: true },
        ]}
      />
    </>
  );
}

function formatIfKnown(value: number | null | undefined): string | undefined {
  return value === null || value === undefined ? undefined : formatFigure(value);
}
