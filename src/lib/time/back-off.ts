interface Delays {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after so many earlier failures in a row: twice as long after each, up to the
 * maximum, by chance half as long to half as long again, so that many do not try at once. `random`
 * gives numbers from 0 up to 1.
 */
export function backOff(failuresBefore: number, delays: Delays, random: () => number): number {
  const { firstMs, maxMs } = delays;
  return Math.min(firstMs * 2 ** failuresBefore, maxMs) * (0.5 + random());
}
