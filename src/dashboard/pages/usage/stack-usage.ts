import type { UsageRow } from '../../api/books-types.ts';
import type { ChartSeries } from '../../parts/charts/chart-props.ts';
import { BY_MODEL } from './usage-subjects.ts';

const MS_PER_SECOND = 1_000;
/** A chart has five colours; the last one is for all that have none of their own. */
const MODELS_MAX = 4;

interface UsageStack {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
}

/** What each model was charged on each day: those with the most first, then all others. */
export function stackUsage(rows: readonly UsageRow[], days: readonly string[]): UsageStack {
  const ofModel = new Map<string, Map<string, number>>();
  for (const row of rows) {
    const { day = '', charged } = row;
    const model = BY_MODEL.nameOf(row);
    const known = ofModel.get(model) ?? new Map<string, number>();
    ofModel.set(model, known.set(day, (known.get(day) ?? 0) + charged));
  }
  const sorted = [...ofModel].toSorted(([, one], [, other]) => sumOf(other) - sumOf(one));
  const [first, rest] = [sorted.slice(0, MODELS_MAX), sorted.slice(MODELS_MAX)];
  const series = first.map(([label, known]) => ({
    label,
    values: days.map((day) => known.get(day) ?? 0),
  }));
  const others = {
    label: 'others',
    values: days.map((day) => rest.reduce((sum, [, known]) => sum + (known.get(day) ?? 0), 0)),
  };
  return {
    times: days.map((day) => Date.parse(day) / MS_PER_SECOND),
    series: rest.length === 0 ? series : [...series, others],
  };
}

function sumOf(values: ReadonlyMap<string, number>): number {
  return [...values.values()].reduce((sum, value) => sum + value, 0);
}
