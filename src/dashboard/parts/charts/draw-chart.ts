import UPlot from 'uplot';
import type { ChartProps } from './chart-props.ts';
import 'uplot/dist/uPlot.min.css';
import { formatClock } from '../../format.ts';

const HEIGHT_PX = 180;
const LINE_PX = 2;
const POINT_PX = 4;
/** More points than this would hide their line. */
const POINTS_MAX = 120;
/** The least time that lines cover. */
const LINE_SECONDS_MIN = 60;
const AXIS_PX = 64;
const TIME_AXIS_PX = 32;
/** The height of the axis with the year below each day. */
const YEAR_AXIS_PX = 48;
/** The least distance of two times on their axis. */
const TIME_SPACE_PX = 80;
const FONT = '12px system-ui, sans-serif';
/** Lines differ in more than their colour. */
const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 2], [8, 3, 2, 3], [1, 4]];

/** The share of its day that a bar takes, and its greatest width. */
const BAR_SHARE = 0.7;
const BAR_PX_MAX = 48;
/** The labels of days under bars: at most this many, each with this much room. */
const LABELS_MAX = 7;
const LABEL_SPACE_PX = 64;

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
      plot.setData(props.isStacked === true ? toStack(shown) : toData(shown));
    },
    remove() {
      dark.removeEventListener('change', repaint);
      resizing.disconnect();
      plot.destroy();
    },
  };
}

function createPlot(frame: HTMLElement, props: ChartProps, shown: ChartData): UPlot {
  const { series, format, formatTime = formatClock, isStacked = false } = props;
  const style = getComputedStyle(frame);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour('--quiet'),
    font: FONT,
    grid: { stroke: colour('--border'), width: 1 },
    ticks: { show: false },
  };
  const drawn = series.map(({ label }, index) => {
    const paint = colour(`--line-${index + 1}`);
    return { label, stroke: paint, ...(isStacked ? barsOf(paint) : lineOf(paint, index)) };
  });
  return new UPlot(
    {
      ...{ width: frame.clientWidth, height: HEIGHT_PX },
      legend: { show: false },
      cursor: { show: false },
      // The highest bar is drawn first, so that the lower ones stay visible in front of it.
      series: [{}, ...(isStacked ? drawn.toReversed() : drawn)],
      scales: {
        x: {
          range: (_, min, max) =>
            isStacked ? widenDays(min, max) : [Math.min(min, max - LINE_SECONDS_MIN), max],
        },
        y: { range: (_, _min, max) => [0, Number.isFinite(max) && max > 0 ? max : 1] },
      },
      axes: [
        {
          ...axis,
          size: (_, labels) => (labels?.join().includes('\n') ? YEAR_AXIS_PX : TIME_AXIS_PX),
          space: TIME_SPACE_PX,
          values: (_, splits) => splits.map((time) => breakYear(formatTime(time))),
          ...(isStacked && {
            splits: ({ data: [days], width }) => chooseLabels(days, width - AXIS_PX),
            grid: { show: false },
          }),
        },
        { ...axis, size: AXIS_PX, values: (_, splits) => splits.map((value) => format(value)) },
      ],
    },
    isStacked ? toStack(shown) : toData(shown),
    frame,
  );
}

function lineOf(fill: string, index: number): Partial<UPlot.Series> {
  return {
    width: LINE_PX,
    dash: [...(DASHES[index] ?? [])],
    points: {
      ...{ size: POINT_PX, width: 0, fill },
      show: (_, _series, first, last) => last - first < POINTS_MAX,
      filter: ({ data }, series, isShown) => (isShown ? null : findLonely(data[series] ?? [])),
    },
  };
}

/** A value between two unknown values has no line, so it needs a point. */
function findLonely(values: ArrayLike<number | null | undefined>): number[] {
  return Array.from(values, (_, at) => at).filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
}

function barsOf(fill: string): Partial<UPlot.Series> {
  const paths = UPlot.paths.bars?.({ size: [BAR_SHARE, BAR_PX_MAX] });
  return { fill, width: 0, points: { show: false }, ...(paths && { paths }) };
}

/** Leaves room for half a bar on both sides. */
function widenDays(first: number, last: number): [number, number] {
  const halfDaySeconds = 43_200;
  return [first - halfDaySeconds, last + halfDaySeconds];
}

function chooseLabels(days: ArrayLike<number>, widthPx: number): number[] {
  const fitting = Math.max(1, Math.floor(widthPx / LABEL_SPACE_PX));
  const step = Math.ceil(days.length / Math.min(LABELS_MAX, fitting));
  return Array.from(days).filter((_, index) => (days.length - 1 - index) % step === 0);
}

/** `31 Dec 2026` has no room beside other days. */
function breakYear(label: string): string {
  return label.replace(/ (\d{4})$/, '\n$1');
}

function toData({ times, series }: ChartData): UPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])];
}

/** Each bar reaches from 0 to the sum of its own value and those below it; the highest first. */
function toStack({ times, series }: ChartData): UPlot.AlignedData {
  const sums = times.map(() => 0);
  const tops = series.map(({ values }) =>
    values.map((value, at) => {
      const top = (sums[at] ?? 0) + (value ?? 0);
      sums[at] = top;
      return top;
    }),
  );
  return [[...times], ...tops.toReversed()];
}
