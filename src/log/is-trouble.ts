import type { RequestRecord } from '../gateway/request-record.ts';
import type { Try } from '../protocol/inference.ts';
import { REFUSALS } from '../protocol/refusals.ts';

/**
 * Whether anything went wrong that is our or an upstream's fault, even if another upstream made up for it. What
 * clients do wrong, and what limits are there for, is none of it: metrics count that.
 */
export function isTrouble({ status, refusal, outcome, tries }: RequestRecord): boolean {
  if (outcome === 'failed' || (status !== undefined && status >= 500)) return true;
  if (refusal !== undefined && REFUSALS[refusal].status >= 500) return true;
  return tries.some(isUpstreamTrouble);
}

function isUpstreamTrouble({ result }: Try): boolean {
  return result !== 'ok' && result !== 'refused' && result !== 'left';
}
