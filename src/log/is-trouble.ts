import type { RequestRecord } from '../gateway/request-record.ts';
import { REFUSALS } from '../protocol/refusals.ts';
import type { Try } from '../protocol/try.ts';

/**
 * Whether anything went wrong that is our fault or an upstream's, even if another upstream made up
 * for it. Mistakes of clients, and requests that exceed limits, do not count here: metrics count
 * them.
 */
export function isTrouble({ status, refusal, outcome, tries }: RequestRecord): boolean {
  if (outcome === 'failed' || (status !== undefined && status >= 500)) return true;
  if (refusal !== undefined && REFUSALS[refusal].status >= 500) return true;
  return tries.some(isUpstreamTrouble);
}

function isUpstreamTrouble({ result }: Try): boolean {
  return result !== 'ok' && result !== 'refused' && result !== 'left';
}
