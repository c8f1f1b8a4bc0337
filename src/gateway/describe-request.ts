import type { RequestDetails } from '../protocol/request-details.ts';
import type { RequestRecord } from './request-record.ts';

/** What the request asked for, in numbers, and its price and the settings that served it. */
export type RequestTerms = Pick<
  RequestDetails,
  | 'bodyBytes'
  | 'estimatedTokens'
  | 'outputTokensMax'
  | 'price'
  | 'configVersion'
  | 'catalogueVersion'
>;

/**
 * What the ledger keeps of a request. `nowMs` is the end of the record in milliseconds since the
 * epoch.
 */
export function describeRequest(
  record: RequestRecord,
  terms: RequestTerms,
  nowMs: number,
): RequestDetails {
  const { startedMs, bodyMs, admittedMs, firstEventMs, endMs } = record;
  const since = (ms: number) => Math.max(0, Math.round(ms - startedMs));
  return {
    bodyBytes: terms.bodyBytes,
    estimatedTokens: terms.estimatedTokens,
    outputTokensMax: terms.outputTokensMax,
    price: terms.price,
    configVersion: terms.configVersion,
    catalogueVersion: terms.catalogueVersion,
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
    isUsageImplausible: record.isUsageImplausible,
  };
}
