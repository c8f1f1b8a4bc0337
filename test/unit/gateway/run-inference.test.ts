import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createCatalogue } from '../../../src/catalogue/resolve-model.ts';
import type { Bill } from '../../../src/gateway/meter-usage.ts';
import { runInference } from '../../../src/gateway/run-inference.ts';
import type { AdmissionOrder, ClientSide, Steps } from '../../../src/gateway/steps.ts';
import { chatFormat } from '../../../src/protocol/chat/index.ts';
import type { Infer, InferenceEvent } from '../../../src/protocol/inference.ts';
import { nativeFormat } from '../../../src/protocol/native/index.ts';
import { readApiKey, refuseKey } from '../../../src/protocol/read-api-key.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { waitUntil } from '../../support/wait-until.ts';

const USAGE = { input: 5, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, thinking: 0 };
const START: InferenceEvent = { type: 'start', id: 'msg_1', model: 'm-1', usage: USAGE };
const ANSWER: readonly InferenceEvent[] = [
  START,
  { type: 'block_start', index: 0, block: { type: 'text' } },
  { type: 'delta', index: 0, delta: { type: 'text', text: 'Hi' } },
  { type: 'block_stop', index: 0 },
  {
    type: 'finish',
    stopReason: 'end_turn',
    stopSequence: undefined,
    usage: { ...USAGE, output: 1 },
  },
];

async function* tell(events: readonly InferenceEvent[]): AsyncGenerator<InferenceEvent> {
  yield* events;
}

const RATE = { nowMs: 1_700_000_000_000, limit: 60, left: 59, resetMs: 60_000, windowMs: 60_000 };

/** What was asked of the quota, and what it was told in the end. */
interface Books {
  readonly orders: AdmissionOrder[];
  readonly bills: Bill[];
}

/** A price of 1 credit per million tokens: a token costs a micro-credit. */
function createSteps(
  infer: Infer,
  books: Books = { orders: [], bills: [] },
  heldMicros = Number.MAX_SAFE_INTEGER,
): Steps {
  const price = { input: 1, output: 1, cacheRead: 1, cacheWrite5m: 1, cacheWrite1h: 1 };
  return {
    checkKey(caller) {
      const text = readApiKey((name) => caller.header(name));
      if (text !== 'sk-gw2-good') throw refuseKey(text);
      return { keyId: 'k', bucket: 0, digest: 'd', masked: 'sk-gw2-…good', address: undefined };
    },
    async admit(order) {
      books.orders.push(order);
      order.tellRate(RATE);
      return {
        heldMicros: Math.min(heldMicros, order.holdMicros),
        settle: (bill) => books.bills.push(bill),
      };
    },
    async identify() {
      return { models: undefined };
    },
    catalogue: createCatalogue([
      {
        id: 'm-1',
        aliases: ['m'],
        contextTokensMax: 1_000,
        betaContextTokensMax: undefined,
        outputTokensMax: 100,
        price,
      },
    ]),
    overCeiling: 'reject',
    bytesPerToken: 3,
    infer,
    nowMs: () => 1_700_000_000_000,
  };
}

/** A client that keeps what it gets, and can leave or be slow. */
function createClient(body: object, headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const all: Record<string, string> = {
    'x-api-key': 'sk-gw2-good',
    'llm-version': '2023-06-01',
    ...headers,
  };
  const got = { heads: 0, bodiesRead: 0, answer: '', text: '', ended: false };
  const added: Record<string, string> = {};
  let drain: Promise<void> | undefined;
  let isGone = false;
  const client: ClientSide = {
    requestId: 'req_1',
    signal: leaving.signal,
    peerAddress: '127.0.0.1',
    header: (name) => all[name],
    joinedHeader: (name) => all[name],
    addHeaders: (headers) => Object.assign(added, headers),
    abort: (refusal) => leaving.abort(refusal),
    async body() {
      got.bodiesRead++;
      return Buffer.from(JSON.stringify(body));
    },
    answer(_head, text) {
      got.heads++;
      got.answer = text;
    },
    startStream() {
      got.heads++;
      return {
        get isFinished() {
          return isGone;
        },
        write(text) {
          got.text += text;
          return drain;
        },
        endStream() {
          got.ended = true;
        },
      };
    },
  };
  return {
    client,
    got,
    added,
    leave() {
      isGone = true;
      leaving.abort(new Error('gone'));
    },
    beSlow: (until: Promise<void>) => {
      drain = until;
    },
  };
}

const ask = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

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
      return tell(ANSWER);
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
      yield START;
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
        yield event;
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
        yield START;
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

  it('holds what the request may cost, and settles what it did cost', async () => {
    const books: Books = { orders: [], bills: [] };
    const { client, added } = createClient(ask);
    await runInference(
      client,
      nativeFormat,
      createSteps(() => tell(ANSWER), books),
    );
    expect(books.orders).toMatchObject([
      { requestId: 'req_1', modelNames: ['m-1', 'm'], holdMicros: 16, holdLeastMicros: 16 },
    ]);
    expect(books.bills).toEqual([
      { usage: { ...USAGE, output: 1 }, chargeMicros: 6, isEstimated: false },
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
      usage: { ...USAGE, output: 1_000 },
    });
    await runInference(
      client,
      nativeFormat,
      createSteps(() => tell(dear)),
    );
    expect(added).not.toHaveProperty('x-tollgate-credits-charged');
  });

  it('cuts an answer of free length to what was held for it, and says so', async () => {
    const { client, added } = createClient({ model: 'm', messages: ask.messages });
    let tokensMax = 0;
    const infer: Infer = (call) => {
      tokensMax = call.outputTokensMax;
      return tell(ANSWER);
    };
    await runInference(client, chatFormat, createSteps(infer, undefined, 50));
    expect(tokensMax).toBe(44);
    expect(added).toMatchObject({
      'x-tollgate-max-tokens': '44',
      'x-ratelimit-remaining-requests': '59',
    });
  });

  const broken: Infer = async function* () {
    yield* ANSWER.slice(0, 3);
    throw new Refusal('upstream_broken', 'Broken');
  };

  it.each([
    [
      'before its first event, stream',
      true,
      0,
      (): AsyncIterable<InferenceEvent> => refuseAtOnce(),
    ],
    ['before its first event', false, 0, (): AsyncIterable<InferenceEvent> => refuseAtOnce()],
    ['in the middle of a stream', true, 6, broken],
    ['in the middle of an answer that was never delivered', false, 0, broken],
  ] as const)(
    'bills what was delivered when the upstream fails %s',
    async (_, stream, chargeMicros, infer) => {
      const books: Books = { orders: [], bills: [] };
      const { client } = createClient({ ...ask, stream });
      await runInference(client, nativeFormat, createSteps(infer, books)).catch(() => {});
      expect(books.bills).toMatchObject([{ chargeMicros }]);
    },
  );

  async function* refuseAtOnce(): AsyncGenerator<InferenceEvent> {
    yield* [];
    throw new Refusal('upstream_overloaded', 'Overloaded');
  }

  it('bills input and output so far, once, when the client leaves', async () => {
    const books: Books = { orders: [], bills: [] };
    const { client, got, leave } = createClient({ ...ask, stream: true });
    const running = runInference(client, nativeFormat, createSteps(tellUntilAborted, books));
    await waitUntil(() => got.text.includes('Hi'), 'the first words are written');
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(books.bills).toEqual([
      { usage: { ...USAGE, output: 1 }, chargeMicros: 6, isEstimated: true },
    ]);
  });

  const tellUntilAborted: Infer = async function* ({ signal }) {
    yield* ANSWER.slice(0, 3);
    await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };

  it('ends a stream with the reason when its key is revoked, and bills it', async () => {
    const books: Books = { orders: [], bills: [] };
    const { client, got } = createClient({ ...ask, stream: true });
    const running = runInference(client, nativeFormat, createSteps(tellUntilAborted, books));
    await waitUntil(() => got.text.includes('Hi'), 'the first words are written');
    books.orders[0]?.stop(new Refusal('unauthenticated', 'This API key has been revoked.'));
    await running;
    expect(got.text).toMatch(/event: error\ndata: .*has been revoked.*\n\n$/);
    expect(got.ended).toBe(true);
    expect(books.bills).toMatchObject([{ chargeMicros: 6, isEstimated: true }]);
  });
});
