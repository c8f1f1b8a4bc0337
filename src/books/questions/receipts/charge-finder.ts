import type { QuestionSource } from '../question.ts';
import { findRequest } from './find-request.ts';

/**
 * Bounds all searches of a process together: after a long outage, thousands of settlements may be
 * too old at once, and the books far behind.
 */
const SEARCH_TIME_MAX_MS = 60_000;
/** After this long without a search, the next outage has the whole time again. */
const REST_MS = 600_000;

interface ChargedRequest {
  readonly requestId: string;
  readonly bucket: number;
}

/** What a request was already charged, by the ledger; undefined if the ledger does not say. */
export type ChargeFinder = (request: ChargedRequest) => Promise<number | undefined>;

/** One search at a time. One that takes too long fails. */
export function createChargeFinder(context: QuestionSource): ChargeFinder {
  const { clock } = context;
  let leftMs = SEARCH_TIME_MAX_MS;
  let endedMs = clock.nowMs();
  let last: Promise<unknown> = Promise.resolve();

  const search = async (request: ChargedRequest): Promise<number | undefined> => {
    const startedMs = clock.nowMs();
    if (Math.abs(startedMs - endedMs) >= REST_MS) leftMs = SEARCH_TIME_MAX_MS;
    if (leftMs <= 0) return undefined;
    try {
      const found = await findRequest(context, request, AbortSignal.timeout(leftMs));
      if (found.kind !== 'ended') return undefined;
      return found.entries.reduce((sum, { charged }) => sum + charged, 0);
    } finally {
      endedMs = clock.nowMs();
      leftMs -= Math.max(0, endedMs - startedMs);
    }
  };

  return (request) => {
    const turn = last.then(() => search(request));
    last = turn.catch(() => {});
    return turn;
  };
}
