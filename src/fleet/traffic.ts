import { z } from 'zod';
import { mergeLatencies } from '../lib/time/merge-latencies.ts';
import { creditsOf } from '../lib/units/micros.ts';
import type { Activity } from '../messages/activity.ts';
import type { HistoryRow } from '../ops/schemas/cluster-schemas.ts';
import { packLatencies, unpackLatencies } from './pack-latencies.ts';

const count = z.int().min(0);
/** Bounds what one message may make a node add up: a histogram has fewer than 900 buckets. */
const PACKED_NUMBERS_MAX = 2_000;
const packedLatencies = z.array(count).max(PACKED_NUMBERS_MAX);

/** What requests did in some time, as nodes report it to each other. */
export const packedTraffic = z.object({
  requests: count,
  refused: count,
  refusals: z.record(z.string(), count),
  streams: count,
  micros: z.int(),
  /** How many were open at the end. */
  open: count,
  latencies: packedLatencies,
  first_events: packedLatencies,
});

export type PackedTraffic = z.infer<typeof packedTraffic>;

/** Adds up reports of workers, each about the time since the one before. */
export function packTraffic(activities: readonly Activity[], open: number): PackedTraffic {
  const sum = (read: (activity: Activity) => number) => sumOf(activities.map(read));
  return {
    requests: sum(({ requests }) => requests),
    refused: sum(({ refused }) => refused),
    refusals: sumByName(activities.map(({ refusals }) => refusals)),
    streams: sum(({ streams }) => streams),
    micros: sum(({ chargedMicros }) => chargedMicros),
    open,
    latencies: packLatencies(activities.flatMap(({ latencies }) => latencies)),
    first_events: packLatencies(activities.flatMap(({ firstEvents }) => firstEvents)),
  };
}

/** Shows several together. Quantiles are those of the merged histograms. */
export function showTraffic(parts: readonly PackedTraffic[]): Omit<HistoryRow, 'at' | 'nodes'> {
  const sum = (read: (part: PackedTraffic) => number) => sumOf(parts.map(read));
  const quantiles = (read: (part: PackedTraffic) => readonly number[]) =>
    mergeLatencies(parts.flatMap((part) => unpackLatencies(read(part)))) ?? null;
  return {
    requests: sum(({ requests }) => requests),
    refused: sum(({ refused }) => refused),
    refusals: sumByName(parts.map(({ refusals }) => refusals)),
    streams: sum(({ streams }) => streams),
    credits: creditsOf(sum(({ micros }) => micros)),
    open: sum(({ open }) => open),
    latency_ms: quantiles(({ latencies }) => latencies),
    first_event_ms: quantiles(({ first_events }) => first_events),
  };
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function sumByName(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, number] of counts.flatMap((each) => Object.entries(each))) {
    sums[name] = (sums[name] ?? 0) + number;
  }
  return sums;
}
