import type { Figures } from '../figures/round.ts';
import type { CaseResult } from '../run-stage.ts';
import { drawBars } from './draw-bars.ts';
import { drawLines } from './draw-lines.ts';
import { colourOf, drawSheet, type Panel } from './svg.ts';

/** For each case, plots the CPU time as bars and the latency as lines over percentiles. */
export function plotResult(title: string, cases: readonly CaseResult[], unit: string): string {
  const names = [...new Set(cases.flatMap(({ figures }) => Object.keys(figures)))];
  return drawSheet(
    title,
    cases.flatMap((each) => plotCase(each, unit, names)),
  );
}

interface Measured extends Figures {
  readonly name: string;
  readonly colour: string;
}

function plotCase({ name, figures }: CaseResult, unit: string, names: readonly string[]): Panel[] {
  const measured: Measured[] = Object.entries(figures).flatMap(([contestant, each]) =>
    each.rounds.length === 0
      ? []
      : [{ ...each, name: contestant, colour: colourOf(names.indexOf(contestant)) }],
  );
  if (measured.length === 0) return [];
  const bars = measured.map(({ cpuMicros, ...rest }) => ({ ...rest, spread: cpuMicros }));
  const columns = [...new Set(measured.flatMap(({ latencyMs }) => Object.keys(latencyMs)))];
  const lines = measured.map(({ latencyMs, ...rest }) => ({
    ...rest,
    values: columns.map((column) => latencyMs[column]?.median),
  }));
  return [
    drawBars(`${name}: CPU us per ${unit}`, bars),
    drawLines(`${name}: ms by percentile`, columns, lines),
  ];
}
