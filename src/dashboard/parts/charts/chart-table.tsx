import { formatClock } from '../../format.ts';
import { DataTable } from '../tables/data-table.tsx';
import type { ChartProps } from './chart-props.ts';

/** For lines, only the newest rows are shown: nobody reads more than a minute of seconds. */
const LINE_ROWS_MAX = 60;

/** Shows the values of a chart as figures, the newest first. */
export function ChartTable(props: ChartProps) {
  const { title, times, series, format, formatTime = formatClock, isStacked = false } = props;
  const all = times.map((time, index) => ({ time, index }));
  const rows = (isStacked ? all : all.slice(-LINE_ROWS_MAX)).toReversed();
  return (
    <DataTable
      caption={title}
      rows={rows}
      keyOf={({ index }) => String(index)}
      emptyText="Nothing yet"
      columns={[
        { title: 'Time', cell: ({ time }) => formatTime(time) },
        ...series.map(({ label, values }) => ({
          title: label,
          isNumber: true,
          cell: ({ index }: { readonly index: number }) => {
            const value = values[index];
            return value === undefined || value === null ? '–' : format(value);
          },
        })),
      ]}
    />
  );
}
