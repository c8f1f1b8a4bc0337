import type { RequestDetails } from '../../src/protocol/request-details.ts';

/** The details of a successful request. */
export const DETAILS: RequestDetails = {
  format: 'native',
  isStream: false,
  maskedKey: 'sk-gw2-…abcd',
  bodyBytes: 120,
  estimatedTokens: 11,
  outputTokensMax: 100,
  configVersion: '0123456789ab-1',
  catalogueVersion: undefined,
  price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 },
  tries: [{ upstream: 'main', result: 'ok' }],
  outcome: 'complete',
  status: 200,
  refusal: undefined,
  startedMs: 1_795_000_000_000,
  bodyMs: 1,
  admittedMs: 2,
  firstEventMs: 30,
  totalMs: 50,
  upstreamWaitMs: 45,
  clientWaitMs: 1,
  isUsageImplausible: false,
};
