import type { Sample } from './take-sample.ts';

const MIB = 1_048_576;
const HOUR_SECONDS = 3_600;

export interface Growth {
  readonly name: string;
  readonly pid: number;
  readonly samples: number;
  readonly lastMib: number;
  /** The slope by least squares over the second half of the run. */
  readonly mibPerHour: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Measures every process that lived through the second half of the run. */
export function measureGrowth(samples: readonly Sample[]): Growth[] {
  const half = samples.slice(Math.floor(samples.length / 2));
  const survivors = (half[0]?.processes ?? []).filter(({ pid }) =>
    half.at(-1)?.processes.some((each) => each.pid === pid),
  );
  return survivors.map(({ name, pid }) => {
    const points = half.flatMap(({ atSeconds, processes }) => {
      const found = processes.find((each) => each.pid === pid);
      return found === undefined ? [] : [{ x: atSeconds / HOUR_SECONDS, y: found.rssBytes / MIB }];
    });
    const lastMib = points.at(-1)?.y ?? Number.NaN;
    return { name, pid, samples: points.length, lastMib, mibPerHour: slopeOf(points) };
  });
}

/** The slope by least squares. */
function slopeOf(points: readonly Point[]): number {
  const meanX = meanOf(points.map(({ x }) => x));
  const meanY = meanOf(points.map(({ y }) => y));
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0);
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return covariance / variance;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
