import { getActiveResourcesInfo } from 'node:process';
import { describe, expect, it } from 'vitest';
import type { InferenceEvent } from '../../../src/protocol/inference.ts';
import { Refusal } from '../../../src/protocol/refusals.ts';
import { answer, ask, collect, createCall, createUpstream } from './simulated-support.ts';

const countTimers = () =>
  getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;

describe('an error that the prompt asks for', () => {
  it.each([400, 413, 429, 500, 502, 503, 504, 529])(
    'is a refusal with the status %i',
    async (status) => {
      const events = createUpstream()(createCall(ask(`[[error ${status}]]`)));
      await expect(collect(events)).rejects.toBeInstanceOf(Refusal);
      await expect(
        collect(createUpstream()(createCall(ask(`[[error ${status}]]`)))),
      ).rejects.toMatchObject({ status });
    },
  );

  it('says nothing of the upstream when a prompt asks for it, and something when it comes by chance', async () => {
    const asked = answer(ask('[[error 500]]'));
    await expect(asked).rejects.toMatchObject({ status: 500, kind: 'refused' });
    const unlucky = answer(ask('Hello [[tokens 0]]'), { errorRate: 1 });
    await expect(unlucky).rejects.not.toHaveProperty('kind');
  });

  it('asks those to wait who may come again', async () => {
    await expect(answer(ask('[[error 429]]'))).rejects.toMatchObject({
      headers: { 'retry-after': '1' },
    });
  });

  it.each([
    [3, '[[error 529 after 3]]'],
    [0, '[[error 529 after 0]]'],
    [2, '[[error 529 after 50]] [[tokens 2]]'],
  ])('comes after %i tokens for %s', async (tokens, text) => {
    const events: InferenceEvent[] = [];
    const broken = async () => {
      for await (const part of createUpstream()(createCall(ask(text)))) {
        events.push(...part.events);
      }
    };
    await expect(broken()).rejects.toMatchObject({ status: 529 });
    expect(events[0]?.type).toBe('start');
    expect(events.filter(({ type }) => type === 'delta')).toHaveLength(tokens);
    expect(events.some(({ type }) => type === 'finish')).toBe(false);
  });
});

describe('errors by chance', () => {
  const tryAll = async (errorRate: number, tries: number) => {
    const infer = createUpstream({ errorRate, seed: 3 });
    const outcomes: string[] = [];
    for (let i = 0; i < tries; i++) {
      const isStarted = { value: false };
      try {
        for await (const _event of infer(createCall(ask('Hi')))) isStarted.value = true;
        outcomes.push('ok');
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
        outcomes.push(isStarted.value ? 'late' : 'early');
      }
    }
    return outcomes;
  };

  it('come at the rate of the settings, before and during answers, and alike for a seed', async () => {
    const outcomes = await tryAll(0.5, 200);
    for (const [outcome, share] of [
      ['ok', 0.5],
      ['early', 0.25],
      ['late', 0.25],
    ] as const) {
      const found = outcomes.filter((other) => other === outcome).length / outcomes.length;
      expect(Math.abs(found - share), outcome).toBeLessThan(0.12);
    }
    expect(await tryAll(0.5, 200)).toEqual(outcomes);
  });

  it('never come at the rate 0 and always at the rate 1', async () => {
    expect(new Set(await tryAll(0, 50))).toEqual(new Set(['ok']));
    expect(await tryAll(1, 50)).not.toContain('ok');
  });
});

describe('the context window', () => {
  const counted = { countTokens: () => 190_000 };

  it('refuses what does not fit, in the words that clients read', async () => {
    await expect(answer(ask('Hi'), { countTokens: () => 205_000 })).rejects.toThrow(
      'prompt is too long: 205000 tokens > 200000 maximum',
    );
    await expect(answer(ask('Hi', { outputTokensMax: 32_000 }), counted)).rejects.toThrow(
      'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
    );
  });

  it('gives those who named no maximum what is left of it', async () => {
    const request = ask('[[tokens 50]]', { outputTokensMax: undefined });
    const { finish } = await answer(request, { countTokens: () => 199_990 });
    expect(finish).toMatchObject({ stopReason: 'max_tokens', usage: { output: 10 } });
  });
});

describe('an answer in time', () => {
  it('waits for its first event and between its tokens as the settings say', async () => {
    const startedMs = performance.now();
    let firstMs: number | undefined;
    const upstream = createUpstream({ latencyMs: 50, tokensPerSecond: 200 });
    for await (const _event of upstream(createCall(ask('[[tokens 20]]')))) {
      firstMs ??= performance.now() - startedMs;
    }
    const wholeMs = performance.now() - startedMs;
    expect(firstMs).toBeGreaterThanOrEqual(48);
    expect(wholeMs).toBeGreaterThanOrEqual(145);
  });

  it('waits as the prompt says', async () => {
    const startedMs = performance.now();
    await answer(ask('[[latency 40]] [[slow 20]] [[tokens 3]]'), { latencyMs: 60_000 });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(97);
  });
});

describe('an abort', () => {
  it.each([
    ['before the first event', '[[latency 60000]]', 0, 0],
    ['between two tokens', '[[slow 1000]]', 1, 1],
    ['of an answer that never pauses', '[[tokens 999999]]', 100, 999_998],
  ])(
    '%s ends the answer at once and leaves no timer',
    async (_when, text, tokensBefore, tokensMax) => {
      const timers = countTimers();
      const reason = new Error('the client has left');
      const controller = new AbortController();
      const call = createCall(ask(text, { outputTokensMax: 999_999 }), {
        signal: controller.signal,
        contextTokensMax: 2_000_000,
      });
      let tokens = 0;
      const leave = () => void setImmediate(() => controller.abort(reason));
      const read = async () => {
        if (tokensBefore === 0) leave();
        for await (const { events } of createUpstream()(call)) {
          for (const { type } of events) {
            if (type === 'delta' && ++tokens === tokensBefore) leave();
          }
        }
      };
      await expect(read()).rejects.toBe(reason);
      expect(tokens).toBeGreaterThanOrEqual(tokensBefore);
      expect(tokens).toBeLessThanOrEqual(tokensMax);
      // The test runner has timers of its own, which may end meanwhile.
      expect(countTimers()).toBeLessThanOrEqual(timers);
    },
  );

  it('before the start gives no event', async () => {
    const events = createUpstream()(createCall(ask('Hi'), { signal: AbortSignal.abort() }));
    await expect(collect(events)).rejects.toThrow('aborted');
  });

  it('is not needed by those who stop reading', async () => {
    const timers = countTimers();
    for await (const { events } of createUpstream({ tokensPerSecond: 50 })(createCall(ask('Hi')))) {
      if (events[0]?.type === 'delta') break;
    }
    expect(countTimers()).toBeLessThanOrEqual(timers);
  });
});
