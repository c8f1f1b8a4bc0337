import { describe, expect, it } from 'vitest';
import { runInference } from '../../../src/gateway/run-inference.ts';
import { chatFormat } from '../../../src/protocol/chat/chat-format.ts';
import type { Answer, AnswerPart, Infer } from '../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../src/protocol/native/native-format.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { ANSWER, ask, createClient, createSteps, emit, type Seen, USAGE } from './spine-support.ts';

describe('what the spine bills', () => {
  it('holds what the request may cost, and settles what it did cost', async () => {
    const seen: Seen = { orders: [], bills: [], records: [] };
    const { client, added } = createClient(ask);
    await runInference(
      client,
      nativeFormat,
      createSteps(() => emit(ANSWER), seen),
    );
    expect(seen.orders).toMatchObject([
      { requestId: 'req_1', modelNames: ['m-1', 'm'], holdMicros: 16, holdLeastMicros: 16 },
    ]);
    expect(seen.bills).toEqual([
      { usage: { ...USAGE, output: 1 }, chargeMicros: 6, isEstimated: false, isImplausible: false },
    ]);
    expect(added).toMatchObject({
      'x-tollgate-credits-charged': '0.000006',
      'anthropic-ratelimit-requests-remaining': '59',
    });
  });

  it('shows no charge that settling may still cut', async () => {
    const { client, added } = createClient(ask);
    const dear = ANSWER.with(-1, {
      type: 'finish',
      stopReason: 'end_turn',
      stopSequence: undefined,
      usage: { ...USAGE, input: 900, output: 10 },
    });
    await runInference(
      client,
      nativeFormat,
      createSteps(() => emit(dear)),
    );
    expect(added).not.toHaveProperty('x-tollgate-credits-charged');
  });

  it('cuts an answer of free length to what was held for it, and says so', async () => {
    const { client, added } = createClient({ model: 'm', messages: ask.messages });
    let tokensMax = 0;
    const infer: Infer = (call) => {
      tokensMax = call.outputTokensMax;
      return emit(ANSWER);
    };
    await runInference(client, chatFormat, createSteps(infer, undefined, 50));
    expect(tokensMax).toBe(44);
    expect(added).toMatchObject({
      'x-tollgate-max-tokens': '44',
      'x-ratelimit-remaining-requests': '59',
    });
  });

  it('cuts an answer of free length to what its input leaves of the window', async () => {
    const seen: Seen = { orders: [], bills: [], records: [] };
    const content = 'a'.repeat(3 * 920);
    const { client, added } = createClient({ model: 'm', messages: [{ role: 'user', content }] });
    let tokensMax = 0;
    const infer: Infer = (call) => {
      tokensMax = call.outputTokensMax;
      const usage = { ...USAGE, input: 924, output: 100 };
      const end = { type: 'finish', stopReason: 'end_turn', stopSequence: undefined } as const;
      return emit(ANSWER.with(-1, { ...end, usage }));
    };
    await runInference(client, chatFormat, createSteps(infer, seen));
    expect(tokensMax).toBe(76);
    expect(added).toMatchObject({ 'x-tollgate-max-tokens': '76' });
    // What is held for the answer is what it can cost, whatever the upstream makes of its maximum.
    expect(seen.orders).toMatchObject([{ holdMicros: 1_000, tokens: { output: 76 } }]);
    expect(seen.bills).toMatchObject([{ chargeMicros: 1_000 }]);
  });

  const broken: Infer = async function* () {
    yield* emit(ANSWER.slice(0, 3));
    throw new Refusal('upstream_broken', 'Broken');
  };

  it.each([
    ['before its first event, stream', true, 0, (): Answer => refuseAtOnce()],
    ['before its first event', false, 0, (): Answer => refuseAtOnce()],
    ['in the middle of a stream', true, 6, broken],
    ['in the middle of an answer that was never delivered', false, 0, broken],
  ] as const)(
    'bills what was delivered when the upstream fails %s',
    async (_, stream, chargeMicros, infer) => {
      const seen: Seen = { orders: [], bills: [], records: [] };
      const { client } = createClient({ ...ask, stream });
      await runInference(client, nativeFormat, createSteps(infer, seen)).catch(() => {});
      expect(seen.bills).toMatchObject([{ chargeMicros }]);
    },
  );

  async function* refuseAtOnce(): AsyncGenerator<AnswerPart> {
    yield* [];
    throw new Refusal('upstream_overloaded', 'Overloaded');
  }

  it('bills input and output so far, once, when the client leaves', async () => {
    const seen: Seen = { orders: [], bills: [], records: [] };
    const { client, got, leave } = createClient({ ...ask, stream: true });
    const running = runInference(client, nativeFormat, createSteps(emitUntilAborted, seen));
    await waitUntil(() => got.text.includes('Hi'), 'the first words are written');
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(seen.bills).toEqual([
      { usage: { ...USAGE, output: 1 }, chargeMicros: 6, isEstimated: true, isImplausible: false },
    ]);
  });

  const emitUntilAborted: Infer = async function* ({ signal }) {
    yield* emit(ANSWER.slice(0, 3));
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };

  it('ends a stream with the reason when its key is revoked, and bills it', async () => {
    const seen: Seen = { orders: [], bills: [], records: [] };
    const { client, got } = createClient({ ...ask, stream: true });
    const running = runInference(client, nativeFormat, createSteps(emitUntilAborted, seen));
    await waitUntil(() => got.text.includes('Hi'), 'the first words are written');
    seen.orders[0]?.stop(new Refusal('unauthenticated', 'This API key has been revoked.'));
    await running;
    expect(got.text).toMatch(/event: error\ndata: .*has been revoked.*\n\n$/);
    expect(got.ended).toBe(true);
    expect(seen.bills).toMatchObject([{ chargeMicros: 6, isEstimated: true }]);
  });
});
