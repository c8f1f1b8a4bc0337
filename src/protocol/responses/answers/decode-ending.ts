import { decodeStreamError, reportsError } from '../../answers/decode-upstream-error.ts';
import type { StopReason } from '../../inference.ts';
import { brokenAnswer, type Json, readObject, readText } from '../../json/upstream-json.ts';
import type { Refusal } from '../../refusals.ts';
import { decodeUsage } from './decode-usage.ts';

interface OutputTraits {
  readonly hasCalls: boolean;
  readonly isRefused: boolean;
}

/** Throws if a response is not an answer: because it failed, or because it is not complete. */
export function checkStatus(response: Json): void {
  if (reportsError(response['error'])) throw decodeFailure(response);
  const status = readText(response, 'status') ?? 'completed';
  if (status === 'completed' || status === 'incomplete') return;
  throw status === 'failed' ? decodeFailure(response) : brokenAnswer('it has no end');
}

export function decodeFailure(response: Json): Refusal {
  return decodeStreamError(response, decodeUsage(response['usage']));
}

export function isIncomplete(response: Json): boolean {
  return response['status'] === 'incomplete';
}

/** Some clients run a call as soon as it is done, even if it was cut. */
export function isCutCall({ status, type }: Json): boolean {
  return status === 'incomplete' && String(type).endsWith('_call');
}

/** Reads why an answer ends. Without a reason, an incomplete answer was cut by its length. */
export function decodeStopReason(
  response: Json,
  { hasCalls, isRefused }: OutputTraits,
): StopReason {
  if (isIncomplete(response)) {
    const reason = readObject(response, 'incomplete_details')['reason'];
    return reason === 'content_filter' ? 'refusal' : 'max_tokens';
  }
  if (isRefused) return 'refusal';
  return hasCalls ? 'tool_use' : 'end_turn';
}
