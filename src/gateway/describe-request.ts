import type { RequestDetails } from '../protocol/request-details.ts';
import type { RequestRecord } from './request-record.ts';

/** What was asked for, in numbers, and what it was held against. */
export type AskedSizes = Pick<
  RequestDetails,
  'bodyBytes' | 'estimatedTokens' | 'outputTokensMax' | 'price' | 'configVersion'
>;

/** What the ledger keeps of a request; `nowMs` is the date of the record's end. */
export function describeRequest(
  record: RequestRecord,
  sizes: AskedSizes,
  nowMs: number,
): RequestDetails {
  const { startedMs, bodyMs, admittedMs, firstEventMs, endMs } = record;
  const since = (ms: number) => Math.max(0, Math.round(ms - startedMs));
  return {
    ...sizes,
    format: record.route,
    isStream: record.isStream,
    maskedKey: record.maskedKey ?? '',
    tries: record.tries,
    outcome: record.outcome,
    status: record.status,
    refusal: record.refusal,
    startedMs: nowMs - since(endMs),
    bodyMs: since(bodyMs ?? startedMs),
    admittedMs: since(admittedMs ?? startedMs),
    firstEventMs: firstEventMs === undefined ? undefined : since(firstEventMs),
    totalMs: since(endMs),
    upstreamWaitMs: Math.round(record.upstreamWaitMs),
    clientWaitMs: Math.round(record.clientWaitMs),
  };
}
