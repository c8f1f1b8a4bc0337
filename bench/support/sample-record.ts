import type { RequestRecord } from '../../src/gateway/request-record.ts';

/** A stream that went well, as most requests are. */
export const SAMPLE_RECORD: RequestRecord = {
  requestId: 'req_0TtWXsY1bHrZ6mPq3Lx8Kd2V',
  route: 'native',
  trace: undefined,
  keyId: '00Wd6yFAUnU9ywm0',
  maskedKey: 'sk-gw2-…x7Qa',
  model: 'llm-haiku-4.5',
  upstream: 'main',
  tries: [{ upstream: 'main', result: 'ok' }],
  isStream: true,
  status: 200,
  refusal: undefined,
  outcome: 'complete',
  startedMs: 10_000.123_456,
  bodyMs: 10_000.323_1,
  admittedMs: 10_001.223_7,
  firstEventMs: 10_204.023_4,
  endMs: 10_812.523_9,
  upstreamWaitMs: 810.212_3,
  clientWaitMs: 0.612_9,
  usage: { input: 12, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, thinking: 0 },
  chargeMicros: 262,
  heldMicros: 530,
  isEstimated: false,
  isUsageMissing: false,
};
