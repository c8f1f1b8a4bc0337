import type { MetricsPage, ScrapeSample } from './parse-metrics.ts';

type Labels = ScrapeSample['labels'];
export type SampleFilter = (labels: Labels) => boolean;

/** Two pages of metrics and the time between them. */
export interface Interval {
  readonly before: MetricsPage | undefined;
  readonly after: MetricsPage | undefined;
  readonly seconds: number;
}

const everything: SampleFilter = () => true;

/** Undefined when there is no such series. */
export function sumOf(
  page: MetricsPage | undefined,
  name: string,
  isWanted: SampleFilter = everything,
): number | undefined {
  const samples = (page?.get(name) ?? []).filter(({ labels }) => isWanted(labels));
  return samples.length === 0 ? undefined : samples.reduce((sum, { value }) => sum + value, 0);
}

/**
 * Undefined also if the counter has restarted in between. A series may appear only when it is
 * first counted.
 */
export function rateOf(
  { before, after, seconds }: Interval,
  name: string,
  isWanted: SampleFilter = everything,
): number | undefined {
  if (before === undefined || seconds <= 0) return undefined;
  if (after?.get(name) === undefined) return undefined;
  const grown = (sumOf(after, name, isWanted) ?? 0) - (sumOf(before, name, isWanted) ?? 0);
  return grown < 0 ? undefined : grown / seconds;
}

/**
 * A quantile of the values observed between the pages: linear inside a bucket, as Prometheus
 * estimates it. A quantile above the last bound is given as that bound. Undefined if nothing was
 * observed.
 */
export function quantileOf(
  { before, after }: Interval,
  name: string,
  quantile: number,
  isWanted: SampleFilter = everything,
): number | undefined {
  if (before === undefined || after === undefined) return undefined;
  const earlier = countBuckets(before, name, isWanted);
  const buckets = [...countBuckets(after, name, isWanted)]
    .map(([bound, count]) => ({ bound, count: count - (earlier.get(bound) ?? 0) }))
    .sort((one, other) => one.bound - other.bound);
  const total = buckets.at(-1)?.count ?? 0;
  if (!(total > 0) || buckets.at(-1)?.bound !== Number.POSITIVE_INFINITY) return undefined;
  const rank = quantile * total;
  let [lowerBound, lowerCount] = [0, 0];
  for (const { bound, count } of buckets) {
    if (bound === Number.POSITIVE_INFINITY) break;
    if (count >= rank) {
      return lowerBound + ((bound - lowerBound) * (rank - lowerCount)) / (count - lowerCount);
    }
    [lowerBound, lowerCount] = [bound, count];
  }
  return lowerBound;
}

function countBuckets(
  page: MetricsPage,
  name: string,
  isWanted: SampleFilter,
): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { labels, value } of page.get(`${name}_bucket`) ?? []) {
    if (!isWanted(labels)) continue;
    const le = labels.get('le');
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    counts.set(bound, (counts.get(bound) ?? 0) + value);
  }
  return counts;
}
