import type { RequestRecord } from '../gateway/request-record.ts';
import type { Activity } from '../ops/activity.ts';

const TELL_INTERVAL_MS = 1_000;

export interface ActivityCount {
  observe(record: RequestRecord): void;
  /** Begins anew. */
  take(open: number): Activity;
}

export function createActivityCount(): ActivityCount {
  const none = { requests: 0, refused: 0, streams: 0, chargedMicros: 0 };
  let counts = { ...none };
  return {
    observe({ outcome, isStream, chargeMicros }) {
      counts.requests += 1;
      if (outcome === 'refused') counts.refused += 1;
      else if (isStream) counts.streams += 1;
      counts.chargedMicros += chargeMicros;
    },
    take(open) {
      const taken = counts;
      counts = { ...none };
      return { ...taken, open };
    },
  };
}

/** Once a second, while there is something to tell; answers what ends it. */
export function startTelling(
  count: ActivityCount,
  openRequests: () => number,
  tell: (activity: Activity) => void,
): () => void {
  let openTold = 0;
  const tellNow = () => {
    const activity = count.take(openRequests());
    if (activity.requests === 0 && activity.open === openTold) return;
    openTold = activity.open;
    tell(activity);
  };
  const timer = setInterval(tellNow, TELL_INTERVAL_MS);
  return () => {
    clearInterval(timer);
    tellNow();
  };
}
