import { describe, expect, it } from 'vitest';
import { encodeChatRate, encodeNativeRate } from '../../../../src/protocol/rates/encode-rate.ts';
import type { LimitState } from '../../../../src/protocol/rates/limit-state.ts';

const rate = {
  nowMs: Date.parse('2026-11-21T12:40:30.200Z'),
  limit: 60,
  left: 59,
  resetMs: 28_500,
  windowMs: 60_000,
};

describe('what a caller is sent of its rate limit', () => {
  it('is a date in the native format, never earlier than the limit is whole', () => {
    expect(encodeNativeRate(rate, [])).toEqual({
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-requests-remaining': '59',
      'anthropic-ratelimit-requests-reset': '2026-11-21T12:40:59Z',
      'ratelimit-policy': '"rpm";q=60;w=60',
      ratelimit: '"rpm";r=59;t=29',
    });
  });

  it('is a duration in the chat format', () => {
    expect(encodeChatRate(rate, [])).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '28.5s',
      'ratelimit-policy': '"rpm";q=60;w=60',
      ratelimit: '"rpm";r=59;t=29',
    });
  });

  it.each([
    [0, '0s'],
    [20, '20ms'],
    [1_000, '1s'],
    [16_298, '16.298s'],
    [60_000, '1m0s'],
    [360_000, '6m0s'],
    [432_000, '7m12s'],
    [3_600_000, '1h0m0s'],
  ])('writes %i ms as Go does: %s', (resetMs, text) => {
    expect(encodeChatRate({ ...rate, resetMs }, [])['x-ratelimit-reset-requests']).toBe(text);
  });
});

describe('what a caller is sent of lists of limits', () => {
  const tokens: LimitState = {
    ...{ level: 'key', unit: 'tokens', window: 10_000, amount: 400, left: 100 },
    resetMs: 9_500,
  };
  const monthly: LimitState = { ...tokens, unit: 'input_tokens', window: 'month', left: 0 };

  it('has the names of each format, and a policy for each', () => {
    expect(encodeNativeRate(rate, [tokens, monthly])).toMatchObject({
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-tokens-limit': '400',
      'anthropic-ratelimit-tokens-remaining': '100',
      'anthropic-ratelimit-tokens-reset': '2026-11-21T12:40:40Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'ratelimit-policy':
        '"rpm";q=60;w=60, "tokens";q=400;qu="tokens";w=10, "input-tokens";q=400;qu="tokens"',
      ratelimit: '"rpm";r=59;t=29, "tokens";r=100;t=10, "input-tokens";r=0;t=10',
    });
    expect(encodeChatRate(rate, [tokens])).toMatchObject({
      'x-ratelimit-limit-tokens': '400',
      'x-ratelimit-remaining-tokens': '100',
      'x-ratelimit-reset-tokens': '9.5s',
    });
  });

  it('is no longer an integer than structured fields may have', () => {
    const huge = { ...tokens, amount: Number.MAX_SAFE_INTEGER, left: Number.MAX_SAFE_INTEGER };
    expect(encodeChatRate(rate, [huge])).toMatchObject({
      'x-ratelimit-limit-tokens': '9007199254740991',
      'ratelimit-policy': '"rpm";q=60;w=60, "tokens";q=999999999999999;qu="tokens";w=10',
      ratelimit: '"rpm";r=59;t=29, "tokens";r=999999999999999;t=10',
    });
  });

  it('is of the limit of requests that has least left', () => {
    const week: LimitState = { ...tokens, unit: 'requests', window: 'week' };
    const of = (left: number) => encodeChatRate(rate, [{ ...week, left }]);
    expect(of(100)).toMatchObject({ 'x-ratelimit-remaining-requests': '59' });
    expect(of(3)).toMatchObject({
      'x-ratelimit-limit-requests': '400',
      'x-ratelimit-remaining-requests': '3',
      'ratelimit-policy': '"rpm";q=60;w=60, "requests";q=400;w=604800',
    });
  });
});
