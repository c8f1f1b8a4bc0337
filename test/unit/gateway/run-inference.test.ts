import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runInference } from '../../../src/gateway/run-inference.ts';
import type { Infer } from '../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { waitUntil } from '../../support/wait-until.ts';
import {
  ANSWER,
  ask,
  createClient,
  createSteps,
  emit,
  partOf,
  type Seen,
  START,
} from './spine-support.ts';

describe('the spine', () => {
  it('refuses a key before it reads the body', async () => {
    const { client, got } = createClient(ask, { 'x-api-key': 'sk-gw2-bad' });
    const infer: Infer = () => {
      throw new Error('nobody may be asked');
    };
    await expect(runInference(client, nativeFormat, createSteps(infer))).rejects.toMatchObject({
      refusal: 'unauthenticated',
    });
    expect(got.bodiesRead).toBe(0);
  });

  it('asks the upstream for the pinned model, within its ceilings', async () => {
    const { client, got } = createClient(ask);
    const steps = createSteps((call) => {
      expect(call).toMatchObject({ model: 'm-1', outputTokensMax: 10, contextTokensMax: 1_000 });
      return emit(ANSWER);
    });
    await runInference(client, nativeFormat, steps);
    expect(JSON.parse(got.answer)).toMatchObject({ id: 'msg_1', model: 'm-1' });
  });

  it.each([
    ['unknown_model', { ...ask, model: 'other' }],
    ['invalid_request', { ...ask, max_tokens: 101 }],
    ['missing_field', { model: 'm', max_tokens: 1 }],
  ])('asks no upstream what it refuses itself: %s', async (refusal, body) => {
    const { client } = createClient(body);
    const infer: Infer = () => {
      throw new Error('nobody may be asked');
    };
    await expect(runInference(client, nativeFormat, createSteps(infer))).rejects.toMatchObject({
      refusal,
    });
  });

  it('counts a large body to the account of its key, even of one that it has not met', async () => {
    const { client } = createClient({ ...ask, system: 'a '.repeat(40_000) });
    const owners: string[] = [];
    const steps = createSteps(() => emit(ANSWER));
    const answered = runInference(client, nativeFormat, {
      ...steps,
      checkKey: (caller) => ({ ...steps.checkKey(caller), accountId: undefined }),
      unpaidBodies: {
        ...steps.unpaidBodies,
        async take(owner) {
          owners.push(owner);
          return 60_000;
        },
      },
    });
    await expect(answered).rejects.toMatchObject({ refusal: 'rate_limited' });
    expect(owners).toEqual(['acc_1']);
  });

  it('settles what it has admitted, even if it cannot begin to ask for the answer', async () => {
    const { client } = createClient(ask);
    const seen: Seen = { orders: [], bills: [], records: [] };
    const fault = new Error('a fault of ours');
    const reasoning = {
      sealOf() {
        throw fault;
      },
    };
    const steps = { ...createSteps(() => emit(ANSWER), seen), reasoning };
    await expect(runInference(client, nativeFormat, steps)).rejects.toBe(fault);
    expect(seen.orders).toHaveLength(1);
    expect(seen.bills).toMatchObject([{ chargeMicros: 0 }]);
  });

  it('holds the status line back until the first event, so that a failure is a plain error', async () => {
    const { client, got } = createClient({ ...ask, stream: true });
    const steps = createSteps(async function* () {
      yield* [];
      throw new Refusal('upstream_overloaded', 'Overloaded');
    });
    await expect(runInference(client, nativeFormat, steps)).rejects.toMatchObject({ status: 529 });
    expect(got.heads).toBe(0);
  });

  it('ends a stream that fails later with the error', async () => {
    const { client, got } = createClient({ ...ask, stream: true });
    const steps = createSteps(async function* () {
      yield partOf(START);
      throw new Refusal('upstream_overloaded', 'Overloaded');
    });
    await runInference(client, nativeFormat, steps);
    expect(got.text).toMatch(/event: error\ndata: .*Overloaded.*\n\n$/);
    expect(got.ended).toBe(true);
  });

  it('takes no further event from the upstream while the client is slow', async () => {
    let taken = 0;
    let catchUp: () => void = () => {};
    const { client, got, beSlow } = createClient({ ...ask, stream: true });
    beSlow(
      new Promise((resolve) => {
        catchUp = resolve;
      }),
    );
    const steps = createSteps(async function* () {
      for (const event of ANSWER) {
        taken++;
        yield partOf(event);
      }
    });
    const running = runInference(client, nativeFormat, steps);
    await waitUntil(() => got.text !== '', 'the first event is written');
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect(taken).toBe(1);
    catchUp();
    await running;
    expect(taken).toBe(ANSWER.length);
  });

  it('stops the upstream when the client leaves, even while it is silent', async () => {
    let stopped = false;
    const { client, got, leave } = createClient({ ...ask, stream: true });
    const steps = createSteps(async function* ({ signal }) {
      try {
        yield partOf(START);
        await new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      } finally {
        stopped = true;
      }
    });
    const running = runInference(client, nativeFormat, steps);
    await waitUntil(() => got.text !== '', 'the first event is written');
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(stopped).toBe(true);
  });
});
