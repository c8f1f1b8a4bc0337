import { describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/gateway/request-record.ts';
import { runInference } from '../../../src/gateway/run-inference.ts';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import type { Infer } from '../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  ANSWER,
  createClient,
  createSteps,
  emit,
  partOf,
  type Seen,
  START,
} from './spine-support.ts';

const ask = { model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };
const OK = [{ upstream: 'main', result: 'ok' }] as const;

const answerWell: Infer = async function* ({ noteTries }) {
  yield* emit(ANSWER);
  noteTries(OK);
};

/** The record of the only request, which has ended in one way or another. */
async function recordOf(
  infer: Infer,
  body: object = ask,
  { format = nativeFormat, headers = {} } = {},
): Promise<RequestRecord | undefined> {
  const seen: Seen = { orders: [], bills: [], records: [] };
  const { client } = createClient(body, headers);
  await runInference(client, format, createSteps(infer, seen)).catch(() => {});
  expect(seen.records).toHaveLength(1);
  return seen.records[0];
}

describe('the record of a request', () => {
  it.each([false, true])('has all of an answer that is complete, streamed: %s', async (stream) => {
    const record = await recordOf(answerWell, { ...ask, stream });
    expect(record).toMatchObject({
      requestId: 'req_1',
      route: 'native',
      keyId: 'k',
      maskedKey: 'sk-gw2-…good',
      model: 'm-1',
      upstream: 'main',
      tries: OK,
      isStream: stream,
      status: 200,
      refusal: undefined,
      outcome: 'complete',
      usage: { input: 5, output: 1 },
      chargeMicros: 6,
      isEstimated: false,
      isUsageMissing: false,
      isUsageImplausible: false,
    });
    expect(record?.heldMicros).toBeGreaterThanOrEqual(20);
  });

  it('has its moments in their order, and no wait longer than the whole', async () => {
    const record = await recordOf(answerWell, { ...ask, stream: true });
    const { startedMs, bodyMs, admittedMs, firstEventMs, endMs } = record ?? {};
    const moments = [startedMs, bodyMs, admittedMs, firstEventMs, endMs].map(Number);
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    const waitedMs = Number(record?.upstreamWaitMs) + Number(record?.clientWaitMs);
    expect(waitedMs).toBeLessThanOrEqual(Number(endMs) - Number(startedMs));
  });

  it.each([
    ['a key that is none', 401, 'unauthenticated', ask, { 'x-api-key': 'wrong' }],
    ['a model that nobody knows', 404, 'unknown_model', { ...ask, model: 'other' }, {}],
    ['a body that makes no sense', 400, 'missing_field', { model: 'm', max_tokens: 1 }, {}],
  ] as const)(
    'names %s, and nothing that is not known',
    async (_what, status, refusal, body, headers) => {
      const record = await recordOf(answerWell, body, { headers });
      expect(record).toMatchObject({ status, refusal, outcome: 'refused', usage: undefined });
      expect(record?.admittedMs).toBeUndefined();
      expect(record?.tries).toEqual([]);
    },
  );

  it('has the status that the client of its format saw', async () => {
    const overloaded: Infer = async function* () {
      yield* [];
      throw new Refusal('upstream_overloaded', 'Overloaded');
    };
    const native = { status: 529, refusal: 'upstream_overloaded', outcome: 'undelivered' };
    expect(await recordOf(overloaded)).toMatchObject(native);
    expect(await recordOf(overloaded, ask, { format: chatFormat })).toMatchObject({
      ...native,
      status: 503,
    });
  });

  it('is one of a good status and a refusal when a stream fails after its beginning', async () => {
    const broken: Infer = async function* () {
      yield partOf(START);
      throw new Refusal('upstream_broken', 'Broken');
    };
    const record = await recordOf(broken, { ...ask, stream: true });
    expect(record).toMatchObject({ status: 200, refusal: 'upstream_broken', outcome: 'failed' });
  });

  it('is one of a fault when a mistake of ours ends it', async () => {
    const faulty: Infer = () => {
      throw new TypeError('a mistake');
    };
    expect(await recordOf(faulty)).toMatchObject({ status: 500, refusal: 'fault' });
  });

  it('is one of a client that left, without a refusal', async () => {
    const silent: Infer = async function* ({ signal }) {
      yield partOf(START);
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    };
    const seen: Seen = { orders: [], bills: [], records: [] };
    const { client, got, leave } = createClient({ ...ask, stream: true });
    const running = runInference(client, nativeFormat, createSteps(silent, seen));
    await waitUntil(() => got.text !== '', 'the first event is written');
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(seen.records).toMatchObject([{ outcome: 'left', status: 200, refusal: undefined }]);
  });

  it('says that usage was missing only where an answer came to its end without it', async () => {
    const uncounted: Infer = async function* () {
      const finish = ANSWER.at(-1);
      if (finish?.type !== 'finish') return;
      yield* emit([...ANSWER.slice(0, -1), { ...finish, usage: undefined }]);
    };
    const expected = { outcome: 'complete', isEstimated: true, isUsageMissing: true };
    expect(await recordOf(uncounted, { ...ask, stream: true })).toMatchObject(expected);
  });
});
