import { showNumber } from './show-number.ts';
import {
  createScale,
  drawGridLine,
  drawText,
  MARGIN_LEFT,
  type Panel,
  PLOT_WIDTH,
  round,
} from './svg.ts';

const HEAD_HEIGHT = 36;
const PLOT_HEIGHT = 190;
const FOOT_HEIGHT = 40;
const LABEL_HEIGHT = 15;
const TEXT_DROP = 4;

export interface Line {
  readonly name: string;
  readonly colour: string;
  /** One value per column. Undefined if nothing was measured. */
  readonly values: readonly (number | undefined)[];
}

/**
 * Draws a line for each contestant over the same columns. Each name stands at the end of its line.
 */
export function drawLines(
  title: string,
  columns: readonly string[],
  lines: readonly Line[],
): Panel {
  const measured = lines.flatMap(({ values }) => values.filter((value) => value !== undefined));
  const scale = createScale(measured);
  const bottom = HEAD_HEIGHT + PLOT_HEIGHT;
  const right = MARGIN_LEFT + PLOT_WIDTH;
  const placeX = (column: number) =>
    MARGIN_LEFT + (column / Math.max(columns.length - 1, 1)) * PLOT_WIDTH;
  const placeY = (value: number) => bottom - scale.place(value) * PLOT_HEIGHT;
  const rows = scale.ticks.map(
    (tick) =>
      drawGridLine(MARGIN_LEFT, placeY(tick), right, placeY(tick)) +
      drawText(MARGIN_LEFT - 8, placeY(tick) + TEXT_DROP, showNumber(tick), {
        ...{ anchor: 'end', kind: 'note' },
      }),
  );
  const heads = columns.map((column, index) =>
    drawText(placeX(index), bottom + 18, column, { anchor: 'middle', kind: 'note' }),
  );
  const drawn = lines.map(({ colour, values }) => {
    const points = values.flatMap((value, index) =>
      value === undefined ? [] : [[round(placeX(index)), round(placeY(value))] as const],
    );
    const dots = points.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`);
    const path = points.map((point) => point.join(' ')).join('L');
    return `<path fill="none" stroke="${colour}" stroke-width="2" d="M${path}"/>${dots.join('')}`;
  });
  const heading = scale.isLogarithmic ? `${title} (logarithmic)` : title;
  const labels = spreadLabels(lines, placeY, right + 10);
  const body = [
    drawText(8, 20, heading, { kind: 'title' }),
    ...rows,
    ...heads,
    ...drawn,
    ...labels,
  ];
  return { height: bottom + FOOT_HEIGHT, body: body.join('\n') };
}

/** Places the names beside the last points, without overlaps. */
function spreadLabels(
  lines: readonly Line[],
  placeY: (value: number) => number,
  x: number,
): string[] {
  const wanted = lines.map((line) => ({ ...line, y: placeY(line.values.at(-1) ?? 0) }));
  let lowest = HEAD_HEIGHT;
  return wanted
    .toSorted((a, b) => a.y - b.y)
    .map(({ name, colour, y }) => {
      const top = Math.max(y, lowest);
      lowest = top + LABEL_HEIGHT;
      const square = `<rect x="${x}" y="${round(top - 5)}" width="10" height="10" rx="2" fill="${colour}"/>`;
      return square + drawText(x + 16, top + TEXT_DROP, name);
    });
}
