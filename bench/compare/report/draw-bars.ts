import type { Spread } from '../figures/round.ts';
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

const HEAD_HEIGHT = 32;
const ROW_HEIGHT = 24;
const BAR_HEIGHT = 14;
const FOOT_HEIGHT = 36;
const SPREAD_HEIGHT = 8;
const TEXT_DROP = 4;

export interface Bar {
  readonly name: string;
  readonly spread: Spread;
  readonly colour: string;
}

/** Draws a bar up to each median, with a line from the smallest to the largest round. */
export function drawBars(title: string, bars: readonly Bar[]): Panel {
  const scale = createScale(bars.flatMap(({ spread }) => [spread.min, spread.max]));
  const placeX = (value: number) => MARGIN_LEFT + scale.place(value) * PLOT_WIDTH;
  const bottom = HEAD_HEIGHT + bars.length * ROW_HEIGHT;
  const ticks = scale.ticks.map(
    (tick) =>
      drawGridLine(placeX(tick), HEAD_HEIGHT, placeX(tick), bottom) +
      drawText(placeX(tick), bottom + 14, showNumber(tick), { anchor: 'middle', kind: 'note' }),
  );
  const rows = bars.map(({ name, spread, colour }, index) => {
    const middle = HEAD_HEIGHT + (index + 0.5) * ROW_HEIGHT;
    const width = Math.max(placeX(spread.median) - MARGIN_LEFT, 1);
    const shape = `x="${MARGIN_LEFT}" y="${round(middle - BAR_HEIGHT / 2)}" width="${round(width)}" height="${BAR_HEIGHT}"`;
    const label = `${showNumber(spread.median)} (${showNumber(spread.min)} - ${showNumber(spread.max)})`;
    return [
      drawText(MARGIN_LEFT - 8, middle + TEXT_DROP, name, { anchor: 'end' }),
      `<rect ${shape} rx="2" fill="${colour}"/>`,
      drawSpread(placeX(spread.min), placeX(spread.max), middle),
      drawText(placeX(spread.max) + 8, middle + TEXT_DROP, label, { kind: 'note' }),
    ].join('');
  });
  const heading = scale.isLogarithmic ? `${title} (logarithmic)` : title;
  const body = [drawText(8, 20, heading, { kind: 'title' }), ...ticks, ...rows];
  return { height: bottom + FOOT_HEIGHT, body: body.join('\n') };
}

function drawSpread(from: number, to: number, middle: number): string {
  const [top, bottom] = [round(middle - SPREAD_HEIGHT / 2), round(middle + SPREAD_HEIGHT / 2)];
  const [left, right] = [round(from), round(to)];
  return `<path class="spread" fill="none" d="M${left} ${top}V${bottom}M${left} ${round(middle)}H${right}M${right} ${top}V${bottom}"/>`;
}
