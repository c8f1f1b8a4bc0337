import { expect, it } from 'vitest';
import { createProcessMetrics } from '../../../src/metrics/process-metrics.ts';
import type { ApiKey } from '../../../src/protocol/admission.ts';
import { createAnswerKeeper } from '../../../src/worker/keeper/create-answer-keeper.ts';

it('what was asked is parsed only when somebody wants to see it', async () => {
  const keeper = createAnswerKeeper({
    terms: { totalBytesMax: 1 },
    admitFree: async () => ({ accountId: 'acct_1' }),
    askStore: async () => ({ output: '[]', input: '[{', response: '{"id":"resp_1"}' }),
    clock: { nowMs: () => 0 },
    metrics: createProcessMetrics({ models: [], upstreams: [], versions: [], nodeVersions: [] }),
  } as unknown as Parameters<typeof createAnswerKeeper>[0]);
  const found = await keeper.find({ digest: 'd', bucket: 0 } as ApiKey, 'resp_1');
  expect(found?.response).toEqual({ id: 'resp_1', output: [] });
  expect(() => found?.readInput()).toThrow('JSON');
});
