import { describe, expect, it } from 'vitest';
import { measureRequest, type RequestRecord } from '../../../src/gateway/request-record.ts';
import { createObserveRequest } from '../../../src/metrics/observe-request.ts';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';

const RECORD: RequestRecord = {
  trace: undefined,
  requestId: 'req_1',
  route: 'native',
  keyId: 'k',
  isKeyProven: true,
  maskedKey: 'sk-gw2-…good',
  model: 'm-1',
  droppedTools: 0,
  upstream: 'main',
  tries: [{ upstream: 'main', result: 'ok' }],
  isStream: true,
  status: 200,
  refusal: undefined,
  outcome: 'complete',
  startedMs: 1_000,
  bodyMs: 1_001,
  admittedMs: 1_002,
  firstEventMs: 1_200,
  endMs: 2_000,
  upstreamWaitMs: 900,
  clientWaitMs: 98,
  usage: {
    input: 1,
    output: 2,
    cacheRead: 3,
    cacheWrite5m: 4,
    cacheWrite1h: 5,
    thinking: 6,
    searches: 0,
  },
  chargeMicros: 1_500_000,
  heldMicros: 2_000_000,
  isEstimated: false,
  isUsageMissing: false,
  isUsageImplausible: false,
};

const REFUSED: RequestRecord = {
  ...RECORD,
  ...{ model: undefined, upstream: undefined, tries: [], isStream: false, status: 401 },
  ...{ refusal: 'unauthenticated', outcome: 'refused', usage: undefined, chargeMicros: 0 },
  ...{ admittedMs: undefined, firstEventMs: undefined },
};

function observeAll(...records: readonly RequestRecord[]) {
  const metrics = createProcessMetrics({
    models: ['m-1'],
    upstreams: ['main'],
    versions: [],
    nodeVersions: [],
  });
  const observe = createObserveRequest(metrics);
  for (const record of records) observe(record);
  /** All values that are not 0, as lines. */
  return metrics.read().flatMap(({ name, values }) =>
    values
      .filter(({ labels, value }) => value !== 0 && !('le' in labels))
      .map(({ metricName, labels, value }) => {
        const rounded = Math.round(value * 1e6) / 1e6;
        return `${(metricName ?? name).replace('tollgate_', '')} ${Object.values(labels)} ${rounded}`;
      }),
  );
}

describe('the observer of requests', () => {
  it('counts a complete answer with all that it was and cost', () => {
    expect(observeAll(RECORD)).toEqual([
      'requests_total native,m-1,200,complete 1',
      'request_duration_seconds_sum native,m-1 1',
      'request_duration_seconds_count native,m-1 1',
      'gateway_overhead_seconds_sum native 0.002',
      'gateway_overhead_seconds_count native 1',
      'time_to_first_token_seconds_sum native,m-1 0.2',
      'time_to_first_token_seconds_count native,m-1 1',
      'tokens_total m-1,input 1',
      'tokens_total m-1,output 2',
      'tokens_total m-1,cache_read 3',
      'tokens_total m-1,cache_write_5m 4',
      'tokens_total m-1,cache_write_1h 5',
      'tokens_total m-1,thinking 6',
      'credits_charged_total m-1 1.5',
    ]);
  });

  it('counts a refusal by its name, under an unknown model', () => {
    const lines = observeAll(REFUSED, { ...REFUSED, route: 'chat' });
    expect(lines).toContain('requests_total native,unknown,401,refused 1');
    expect(lines).toContain('requests_total chat,unknown,401,refused 1');
    expect(lines).toContain('refusals_total unauthenticated 2');
    expect(lines.filter((line) => /^(time_to|tokens|credits)/.test(line))).toEqual([]);
  });

  it('tells combinations of labels apart, also once they are known', () => {
    const failed: RequestRecord = { ...RECORD, outcome: 'failed' };
    const gone: RequestRecord = { ...RECORD, outcome: 'left', status: undefined };
    const lines = observeAll(RECORD, failed, gone, RECORD, failed, gone);
    expect(lines.filter((line) => line.startsWith('requests_total'))).toEqual([
      'requests_total native,m-1,200,complete 2',
      'requests_total native,m-1,200,failed 2',
      'requests_total native,m-1,none,left 2',
    ]);
  });

  it('counts usage that is missing or was estimated', () => {
    const lines = observeAll({ ...RECORD, isUsageMissing: true, isEstimated: true });
    expect(lines).toContain('usage_missing_total m-1 1');
    expect(lines).toContain('usage_estimated_total m-1 1');
  });
});

describe('the measures of a request', () => {
  it('never take more waiting off than there was time', () => {
    const measures = measureRequest({ ...RECORD, upstreamWaitMs: 990, clientWaitMs: 990 });
    expect(measures.overheadSeconds).toBe(0);
  });

  it.each<[string | undefined, Partial<RequestRecord>]>([
    [undefined, {}],
    ['client_left', { outcome: 'left' }],
    ['upstream_failed', { outcome: 'failed', refusal: 'upstream_broken' }],
    ['key_revoked', { outcome: 'left', refusal: 'unauthenticated' }],
    ['account_suspended', { outcome: 'left', refusal: 'account_suspended' }],
    ['fault', { outcome: 'undelivered' }],
    [undefined, { outcome: 'failed', isStream: false }],
    [undefined, { outcome: 'failed', status: 502 }],
    [undefined, { outcome: 'left', status: undefined }],
  ])('say %s for a stream that ended so', (reason, more) => {
    expect(measureRequest({ ...RECORD, ...more }).streamAbortReason).toBe(reason);
  });
});
