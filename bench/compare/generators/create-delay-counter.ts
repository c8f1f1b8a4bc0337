/** Each step is 2 % above the one before: about a thousand steps from a microsecond to an hour. */
const STEP = 1.02;
const LEAST_MS = 0.001;
const STEPS = 1_200;

const QUANTILES = { p50: 0.5, p99: 0.99, p999: 0.999 } as const;

export interface DelayCounter {
  count(ms: number): void;
  quantiles(): Record<string, number>;
  clear(): void;
}

/** Counts delays by size, since a list of all delays would be the largest object in the process. */
export function createDelayCounter(): DelayCounter {
  const counts = new Uint32Array(STEPS);
  let all = 0;
  let max = 0;
  const quantile = (share: number) => {
    let left = share * all;
    const step = counts.findIndex((each) => {
      left -= each;
      return left <= 0;
    });
    return Math.min(LEAST_MS * STEP ** step, max);
  };
  return {
    count(ms) {
      const step = Math.ceil(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(STEP));
      const index = Math.min(step, STEPS - 1);
      counts[index] = (counts[index] ?? 0) + 1;
      all += 1;
      max = Math.max(max, ms);
    },
    quantiles: () => ({
      ...Object.fromEntries(Object.entries(QUANTILES).map(([name, at]) => [name, quantile(at)])),
      max,
    }),
    clear() {
      counts.fill(0);
      all = 0;
      max = 0;
    },
  };
}
