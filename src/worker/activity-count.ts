import { measureRequest, type RequestRecord } from '../gateway/request-record.ts';
import { createLatencyHistogram } from '../lib/time/latency-histogram.ts';
import { SECOND_MS } from '../lib/units/time-units.ts';
import type { Activity } from '../messages/activity.ts';

export interface ActivityCount {
  observe(record: RequestRecord): void;
  /** Returns the counts and begins new ones. */
  take(open: number): Activity;
}

export function createActivityCount(): ActivityCount {
  let counts = createCounts();
  return {
    observe(record) {
      const { outcome, refusal, isStream, chargeMicros } = record;
      const { durationSeconds, firstEventSeconds } = measureRequest(record);
      counts.requests += 1;
      if (outcome === 'refused') counts.refused += 1;
      else if (isStream) counts.streams += 1;
      if (refusal !== undefined) {
        counts.refusals[refusal] = (counts.refusals[refusal] ?? 0) + 1;
      }
      counts.chargedMicros += chargeMicros;
      counts.latencies.add(durationSeconds * SECOND_MS);
      if (firstEventSeconds !== undefined) {
        counts.firstEvents.add(firstEventSeconds * SECOND_MS);
      }
    },
    take(open) {
      const taken = counts;
      // A worker that has counted nothing keeps its empty histograms.
      if (taken.requests > 0) counts = createCounts();
      return {
        ...taken,
        refusals: { ...taken.refusals },
        latencies: taken.latencies.buckets(),
        firstEvents: taken.firstEvents.buckets(),
        open,
      };
    },
  };
}

function createCounts() {
  return {
    ...{ requests: 0, refused: 0, streams: 0, chargedMicros: 0 },
    refusals: {} as Record<string, number>,
    latencies: createLatencyHistogram(),
    firstEvents: createLatencyHistogram(),
  };
}

/** Returns a function that sends the activity, if there is something new. */
export function createActivitySender(
  count: ActivityCount,
  openRequests: () => number,
  send: (activity: Activity) => void,
): () => void {
  let openSent = 0;
  return () => {
    const activity = count.take(openRequests());
    if (activity.requests === 0 && activity.open === openSent) return;
    openSent = activity.open;
    send(activity);
  };
}
