import UPlot from 'uplot';
import type { ChartProps } from './chart-props.ts';
import 'uplot/dist/uPlot.min.css';
import { formatClock } from '../format.ts';

const HEIGHT_PX = 180;
const LINE_PX = 2;
const POINT_PX = 4;
const AXIS_PX = 64;
const FONT = '12px system-ui, sans-serif';
/** Lines differ in more than their colour. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3], [1, 4]];

type ChartData = Pick<ChartProps, 'times' | 'series'>;

export interface ChartDrawing {
  show(shown: ChartData): void;
  remove(): void;
}

/**
 * Draws into the frame at the frame's width and in the colours of the light or dark page. Draws
 * again if these change.
 */
export function drawChart(frame: HTMLElement, props: ChartProps): ChartDrawing {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let last: ChartData = props;
  let plot = createPlot(frame, props, last);

  const repaint = () => {
    plot.destroy();
    plot = createPlot(frame, props, last);
  };
  dark.addEventListener('change', repaint);
  const resizing = new ResizeObserver(() => {
    if (frame.clientWidth !== plot.width) {
      plot.setSize({ width: frame.clientWidth, height: HEIGHT_PX });
    }
  });
  resizing.observe(frame);
  return {
    show(shown) {
      last = shown;
      plot.setData(toData(shown));
    },
    remove() {
      dark.removeEventListener('change', repaint);
      resizing.disconnect();
      plot.destroy();
    },
  };
}

function createPlot(frame: HTMLElement, props: ChartProps, shown: ChartData): UPlot {
  const { series, format, formatTime = formatClock } = props;
  const style = getComputedStyle(frame);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    font: FONT,
    grid: { stroke: colour('--border'), width: 1 },
    ticks: { show: false },
  };
  const lines = series.map(({ label }, index) => ({
    label,
    stroke: colour(`--line-${index + 1}`),
    width: LINE_PX,
    dash: [...(DASHES[index] ?? [])],
    // A value between two unknown values has no line, so it needs a point.
    points: { show: true, size: POINT_PX, width: 0, fill: colour(`--line-${index + 1}`) },
  }));
  return new UPlot(
    {
      ...{ width: frame.clientWidth, height: HEIGHT_PX },
      legend: { show: false },
      cursor: { show: false },
      series: [{}, ...lines],
      scales: { y: { range: (_, _min, max) => [0, Number.isFinite(max) && max > 0 ? max : 1] } },
      axes: [
        { ...axis, values: (_, splits) => splits.map(formatTime) },
        { ...axis, size: AXIS_PX, values: (_, splits) => splits.map((value) => format(value)) },
      ],
    },
    toData(shown),
    frame,
  );
}

function toData({ times, series }: ChartData): UPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}
