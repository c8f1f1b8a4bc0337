import type { Clock } from '../lib/time/clock.ts';
import { findRequest } from './find-request.ts';
import type { LedgerPlace } from './read-ledger.ts';

/**
 * Bounds all searches of a process together: after a long outage, thousands of settlements may be
 * too old at once.
 */
const SEARCH_TIME_MAX_MS = 60_000;

interface ChargedRequest {
  readonly requestId: string;
  readonly bucket: number;
}

/** What the ledger says that a request was charged already; undefined where it does not tell. */
export type FindCharged = (request: ChargedRequest) => Promise<number | undefined>;

/** One search at a time, since each may read whole segments. */
export function createFindCharged(place: LedgerPlace, clock: Clock): FindCharged {
  let leftMs = SEARCH_TIME_MAX_MS;
  let last: Promise<unknown> = Promise.resolve();

  const search = async ({ requestId, bucket }: ChargedRequest): Promise<number | undefined> => {
    if (leftMs <= 0) return undefined;
    const startedMs = clock.nowMs();
    try {
      const found = await findRequest(place, requestId, { bucket, timeMaxMs: leftMs });
      if (found.kind !== 'ended') return undefined;
      return found.entries.reduce((sum, entry) => sum + entry.charged_micros, 0);
    } finally {
      leftMs -= Math.max(0, clock.nowMs() - startedMs);
    }
  };

  return (request) => {
    const turn = last.then(() => search(request));
    last = turn.catch(() => {});
    return turn;
  };
}
