import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { ChartProps, ChartSeries } from './chart-props.ts';
import { ChartTable } from './chart-table.tsx';
import { type ChartDrawing, drawChart } from './draw-chart.ts';

/**
 * Lines or bars over time. A sentence describes them for people who cannot see them, and a button
 * shows a table.
 */
export function Chart(props: ChartProps) {
  const { title, series, format, isStacked = false } = props;
  const frame = useRef<HTMLDivElement>(null);
  const drawn = useRef<ChartDrawing | undefined>(undefined);
  const [isTable, setTable] = useState(false);
  const titleId = useId();
  const labels = series.map(({ label }) => label).join();

  // Redrawn only if the lines change; new values come through `show`.
  useEffect(() => {
    if (frame.current === null || isTable) return;
    const chart = drawChart(frame.current, props);
    drawn.current = chart;
    return () => {
      drawn.current = undefined;
      chart.remove();
    };
  }, [labels, isTable]);
  useEffect(() => drawn.current?.show(props));

  return (
    <figure class="chart" aria-labelledby={titleId}>
      <figcaption>
        <span id={titleId}>{title}</span>
        <button type="button" class="small" onClick={() => setTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </button>
      </figcaption>
      {isTable ? (
        <ChartTable {...props} />
      ) : (
        <>
          <div ref={frame} class="lines" role="img" aria-label={summarise(props)} />
          <ul class="legend" aria-hidden="true">
            {series.map(({ label, values }, index) => (
              <li key={label} class={`line-${index + 1}`}>
                {label} <b>{isStacked ? format(sum(values)) : formatLast(values, format)}</b>
              </li>
            ))}
          </ul>
        </>
      )}
    </figure>
  );
}

function summarise({ title, series, format, isStacked }: ChartProps): string {
  if (isStacked === true) {
    return `${title}. ${series.map(({ label, values }) => `${label}: ${format(sum(values))} in all`).join('; ')}`;
  }
  const parts = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: nothing yet`;
    return `${label}: ${formatLast(values, format)} now, at most ${format(Math.max(...known))}`;
  });
  return `${title}. ${parts.join('; ')}`;
}

function sum(values: ChartSeries['values']): number {
  return values.reduce<number>((total, value) => total + (value ?? 0), 0);
}

function formatLast(values: ChartSeries['values'], format: ChartProps['format']): string {
  const last = values.at(-1);
  return last === undefined || last === null ? '–' : format(last);
}
