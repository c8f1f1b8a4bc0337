import { formatCount, formatFigure, formatMs, formatName } from '../../format.ts';
import { Chart } from '../../parts/charts/chart.tsx';
import { Figures } from '../../parts/figures.tsx';
import { DataTable } from '../../parts/tables/data-table.tsx';
import { traffic } from '../../traffic.ts';
import { countRefusals, measureTraffic } from './measure-traffic.ts';

/** Shows what this node does, second by second. */
export function LiveTraffic() {
  const samples = traffic.value;
  const lines = measureTraffic(samples);
  const last = samples.at(-1);
  return (
    <>
      <h2>Live, this node</h2>
      <Figures
        figures={[
          { name: 'Requests a second', value: last && formatFigure(last.requests) },
          { name: 'Streams a second', value: last && formatFigure(last.streams) },
          { name: 'Open now', value: last && formatCount(last.open) },
          { name: 'Credits a minute', value: formatIfKnown(lines.creditsPerMinute.at(-1)) },
        ]}
      />
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
      <h3>Refusals</h3>
      <DataTable
        caption="Refusals by reason, of the last five minutes"
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
