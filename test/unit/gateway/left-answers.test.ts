import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { runInference } from '../../../src/gateway/run-inference.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import type { Infer, InferenceEvent, Usage } from '../../../src/protocol/inference.ts';
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
  USAGE,
} from './spine-support.ts';

const DRAIN_MS = 60_000;
const THINKING = { ...ask, max_tokens: 90, stream: true, thinking: { type: 'adaptive' } };

const finish = (usage: Usage): InferenceEvent => ({
  type: 'finish',
  stopReason: 'end_turn',
  stopSequence: undefined,
  usage,
});

/** Sends some words, and the rest when the test says so. */
function createUpstream(rest: () => ReturnType<typeof emit>, start: InferenceEvent) {
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let isStopped = false;
  const infer: Infer = async function* ({ signal }) {
    yield* emit([start, ...ANSWER.slice(1, 3)]);
    const stopped = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => {
        isStopped = true;
        reject(signal.reason);
      });
    });
    await Promise.race([gate, stopped]);
    yield* rest();
  };
  return { infer, goOn: () => goOn(), isStopped: () => isStopped };
}

async function start(rest: () => ReturnType<typeof emit>, body: object, first = START) {
  const seen: Seen = { orders: [], bills: [], records: [] };
  const upstream = createUpstream(rest, first);
  const client = createClient(body);
  const steps = createSteps(upstream.infer, seen, undefined, DRAIN_MS);
  const running = runInference(client.client, nativeFormat, steps);
  running.catch(() => {});
  await waitUntil(() => client.got.text.includes('Hi'), 'the first words are written');
  return { ...upstream, ...client, seen, steps, running };
}

const emitAll = (usage: Usage) => () => emit([...ANSWER.slice(3, 4), finish(usage)]);

describe('an answer that may hide some of its cost', () => {
  it('is read to its end when its client leaves, and costs what its upstream reports then', async () => {
    const usage = { ...USAGE, output: 80, thinking: 70 };
    const { leave, goOn, running, seen, got, isStopped } = await start(emitAll(usage), THINKING);
    leave();
    const written = got.text;
    goOn();
    await running;
    expect(isStopped()).toBe(false);
    expect(seen.bills).toMatchObject([{ usage, chargeMicros: 85, isEstimated: false }]);
    expect(seen.records).toMatchObject([{ outcome: 'left', refusal: undefined }]);
    expect(got.text).toBe(written);
  });

  it('is read on as well when its client is cut off, since it reads nothing', async () => {
    const usage = { ...USAGE, output: 80, thinking: 70 };
    const { cutOff, goOn, running, seen } = await start(emitAll(usage), THINKING);
    cutOff();
    goOn();
    await running;
    expect(seen.bills).toMatchObject([{ usage, isEstimated: false }]);
  });

  it('costs no more than was held where that is reported only to nobody', async () => {
    const usage = { ...USAGE, input: 900, output: 80 };
    const { leave, goOn, running, seen } = await start(emitAll(usage), THINKING);
    const held = seen.orders[0]?.holdMicros;
    leave();
    goOn();
    await running;
    expect(seen.bills).toMatchObject([{ chargeMicros: held }]);
  });

  it('costs what was delivered when its upstream then fails, which is no trouble of a client', async () => {
    const fail = async function* () {
      yield* [];
      throw new Refusal('upstream_broken', 'Broken');
    };
    const { leave, goOn, running, seen } = await start(fail, THINKING);
    leave();
    goOn();
    await running;
    expect(seen.bills).toMatchObject([{ chargeMicros: 6, isEstimated: true }]);
    expect(seen.records).toMatchObject([{ outcome: 'left', refusal: undefined }]);
  });

  it('is stopped when its key is revoked meanwhile, and when the worker ends', async () => {
    const revoked = await start(emitAll(USAGE), THINKING);
    revoked.leave();
    revoked.seen.orders[0]?.stop(new Refusal('unauthenticated', 'Revoked.'));
    const ended = await start(emitAll(USAGE), THINKING);
    ended.leave();
    ended.steps.unread.close();
    for (const { running, seen, isStopped, steps } of [revoked, ended]) {
      await expect(running).rejects.toThrow('gone');
      expect(isStopped()).toBe(true);
      expect(seen.bills).toMatchObject([{ chargeMicros: 6, isEstimated: true }]);
      expect(seen.records).toMatchObject([{ outcome: 'left', refusal: undefined }]);
      expect(steps.unread.count).toBe(0);
    }
  });

  it('is known by its model, once that has thought without being asked', async () => {
    const usage = { ...USAGE, output: 9, thinking: 5 };
    const plain = { ...ask, stream: true };
    const first = await start(emitAll(usage), plain);
    first.goOn();
    await first.running;
    expect(first.steps.unread.hides('m-1')).toBe(true);
    const second = await start(emitAll(usage), plain);
    second.steps.unread.noteHiding('m-1');
    second.leave();
    second.goOn();
    await second.running;
    expect(second.seen.bills).toMatchObject([{ usage, isEstimated: false }]);
  });
});

const base64 = (media_type: string) => ({ type: 'base64', media_type, data: 'QUJD' });
const messagesOf = (block: object) => ({ messages: [{ role: 'user', content: [block] }] });
const TEXT = { type: 'text', text: 'word '.repeat(600) };
/** Requests whose input nobody knows before the upstream has counted it. */
const UNSURE = {
  'a PDF': messagesOf({ type: 'document', source: base64('application/pdf') }),
  'an image': messagesOf({ type: 'image', source: base64('image/png') }),
  'a cache marker': messagesOf({ ...TEXT, cache_control: { type: 'ephemeral' } }),
  'much text that a model need not read': { ...ask, notes: 'word '.repeat(1_000) },
};
const UNREPORTED: InferenceEvent = { type: 'start', id: 'msg_1', model: 'm-1', usage: NO_USAGE };

describe.each(Object.entries(UNSURE))('a stream about %s', (_, asked) => {
  const body = { ...ask, ...asked, stream: true };
  const usage = { ...USAGE, input: 900, output: 7 };

  it('is read on when its client leaves before its input is reported', async () => {
    const { leave, goOn, running, seen } = await start(emitAll(usage), body, UNREPORTED);
    leave();
    goOn();
    await running;
    expect(seen.bills).toMatchObject([{ usage, chargeMicros: 907, isEstimated: false }]);
  });

  it('is stopped when its client leaves after that', async () => {
    const { leave, running, isStopped } = await start(emitAll(usage), body);
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(isStopped()).toBe(true);
  });

  it('is stopped as soon as its input is reported to nobody', async () => {
    let isRead = false;
    const rest = async function* () {
      yield* emit([{ type: 'usage', usage }, ...ANSWER.slice(2, 3)]);
      isRead = true;
    };
    const { leave, goOn, running, seen } = await start(rest, body, UNREPORTED);
    leave();
    goOn();
    await running;
    expect(isRead).toBe(false);
    expect(seen.bills).toMatchObject([{ usage: { input: 900 } }]);
  });
});

describe('an answer that hides nothing', () => {
  it('is stopped when its client leaves before its input is reported, which can be estimated', async () => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const body = { ...ask, tools, stream: true };
    const { leave, running, isStopped } = await start(emitAll(USAGE), body, UNREPORTED);
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(isStopped()).toBe(true);
  });

  it('is stopped when its client leaves', async () => {
    const { leave, running, isStopped } = await start(emitAll(USAGE), { ...ask, stream: true });
    leave();
    await expect(running).rejects.toThrow('gone');
    expect(isStopped()).toBe(true);
  });
});

it('an answer costs what was reported before it was ended, even if that is more than was held', async () => {
  const usage = { ...USAGE, input: 900 };
  for (const end of ['left', 'revoked']) {
    const first: InferenceEvent = { type: 'start', id: 'msg_1', model: 'm-1', usage };
    const { leave, running, seen } = await start(emitAll(usage), { ...ask, stream: true }, first);
    if (end === 'left') leave();
    else seen.orders[0]?.stop(new Refusal('unauthenticated', 'Revoked.'));
    await running.catch(() => {});
    expect(seen.orders[0]?.holdMicros).toBeLessThan(900);
    expect(seen.bills, end).toMatchObject([{ chargeMicros: 901 }]);
  }
});

it('a usage counts for no text that comes behind it, even in the same read', async () => {
  const seen: Seen = { orders: [], bills: [], records: [] };
  const usage = { ...USAGE, output: 1 };
  const { client, got, leave } = createClient({ ...ask, max_tokens: 90, stream: true });
  const infer: Infer = async function* ({ signal }) {
    const bytes = Buffer.from('Hi and more');
    const reported: InferenceEvent = { type: 'usage', usage };
    yield { ...partOf(START, reported), contentBytes: 62, unreportedBytes: 60, bytes };
    await new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  };
  const running = runInference(client, nativeFormat, createSteps(infer, seen));
  running.catch(() => {});
  await waitUntil(() => got.text.includes('more'), 'the words are written');
  leave();
  await expect(running).rejects.toThrow('gone');
  expect(seen.bills).toMatchObject([{ usage: { output: 1 + 60 / 3 }, isEstimated: true }]);
});

/** Sends a stream up to its last part, whose client does something before it has read that. */
async function sendLastPart(meet: (client: ReturnType<typeof createClient>) => void) {
  const seen: Seen = { orders: [], bills: [], records: [] };
  const client = createClient(THINKING);
  let isStopped = false;
  const infer: Infer = async function* ({ signal }) {
    signal.addEventListener('abort', () => {
      isStopped = true;
    });
    yield* emit(ANSWER.slice(0, 3));
    meet(client);
    yield { ...partOf(...ANSWER.slice(3)), isLast: true };
  };
  const steps = createSteps(infer, seen, undefined, DRAIN_MS);
  await runInference(client.client, nativeFormat, steps).catch(() => {});
  expect(steps.unread.count).toBe(0);
  return { seen, got: client.got, isStopped };
}

describe('a stream that ends with its last part', () => {
  it.each([
    ['at once', () => {}],
    ['slowly', ({ beSlow }: ReturnType<typeof createClient>) => beSlow(nextTurn())],
  ])('was not left by a client that reads this part %s', async (_, meet) => {
    const { seen, got, isStopped } = await sendLastPart(meet);
    expect(got.ended).toBe(true);
    expect(seen.records).toMatchObject([{ outcome: 'complete' }]);
    expect(seen.bills).toMatchObject([{ chargeMicros: USAGE.input + 1 }]);
    expect(isStopped).toBe(false);
  });

  it.each([
    ['leaves', ({ leave }: ReturnType<typeof createClient>) => leave()],
    [
      'is cut off, since the time is up,',
      ({ client }: ReturnType<typeof createClient>) => {
        client.abort(new Refusal('answer_too_slow', 'Too long.'));
        client.cutOff();
      },
    ],
  ])('is not complete if its client %s before that is read', async (_, end) => {
    const { seen, got } = await sendLastPart((client) =>
      client.beSlow(nextTurn().then(() => end(client))),
    );
    expect(got.ended).toBe(false);
    expect(seen.records).toMatchObject([{ outcome: 'left' }]);
  });
});
