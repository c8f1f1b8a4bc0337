/** A piece of a drawing and its height. */
export interface Panel {
  readonly height: number;
  readonly body: string;
}

export const WIDTH = 860;
/** The left margin holds the names. */
export const MARGIN_LEFT = 170;
/** The right margin holds the numbers. */
const MARGIN_RIGHT = 150;
export const PLOT_WIDTH = WIDTH - MARGIN_LEFT - MARGIN_RIGHT;
const LOGARITHMIC_FROM = 15;
/** The minimum on a logarithmic scale: a shorter bar would be invisible. */
const SHORTEST_DECADES = 0.3;

/** The colours can be told apart on white and on black. */
const COLOURS = [
  ...['#3b82f6', '#f59e0b', '#10b981', '#ef4444', '#8b5cf6', '#06b6d4'],
  ...['#ec4899', '#7c9a16', '#8a8f98', '#b45309'],
];

export const colourOf = (index: number) => COLOURS[index % COLOURS.length] ?? '';

export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export interface TextOptions {
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly kind?: 'title' | 'note';
}

export function drawText(x: number, y: number, text: string, options: TextOptions = {}): string {
  const { anchor = 'start', kind } = options;
  const style = kind === undefined ? '' : ` class="${kind}"`;
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}"${style}>${escapeText(text)}</text>`;
}

export const drawGridLine = (x1: number, y1: number, x2: number, y2: number) =>
  `<line class="grid" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;

export const round = (value: number) => Math.round(value * 10) / 10;

export interface Scale {
  readonly isLogarithmic: boolean;
  readonly ticks: readonly number[];
  /** Maps a value to 0 at the start of the scale and to 1 at its end. */
  place(value: number): number;
}

/** Linear from 0, or logarithmic if the smallest value would be invisible beside the largest. */
export function createScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0);
  const max = Math.max(...positive, Number.MIN_VALUE);
  const min = Math.min(...positive, max);
  if (max / min < LOGARITHMIC_FROM) {
    const step = 10 ** Math.floor(Math.log10(max));
    const end = Math.ceil(max / step) * step;
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => share * end);
    return { isLogarithmic: false, ticks, place: (value) => Math.max(value, 0) / end };
  }
  const from = Math.floor(Math.log10(min) - SHORTEST_DECADES);
  const to = Math.ceil(Math.log10(max));
  return {
    isLogarithmic: true,
    ticks: Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index)),
    place: (value) =>
      value > 0 ? Math.max((Math.log10(value) - from) / Math.max(to - from, 1), 0) : 0,
  };
}

/** Stacks the pieces. Text and lines follow the reader's light or dark background. */
export function drawSheet(title: string, panels: readonly Panel[]): string {
  let top = 0;
  const groups = panels.map(({ height, body }) => {
    const group = `<g transform="translate(0 ${top})">${body}</g>`;
    top += height;
    return group;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}">
<title>${escapeText(title)}</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-size: 14px; font-weight: 600; }
.note { font-size: 11px; fill: #6e7781; }
.grid { stroke: #8b949e; stroke-opacity: 0.35; }
.spread { stroke: #24292f; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .note { fill: #9198a1; }
  .spread { stroke: #e6edf3; }
}
</style>
${groups.join('\n')}
</svg>
`;
}
