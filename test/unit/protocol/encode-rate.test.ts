import { describe, expect, it } from 'vitest';
import { encodeChatRate, encodeNativeRate } from '../../../src/protocol/encode-rate.ts';

const rate = {
  nowMs: Date.parse('2026-11-21T12:40:30.200Z'),
  limit: 60,
  left: 59,
  resetMs: 28_500,
  windowMs: 60_000,
};

describe('what a caller is told of its rate limit', () => {
  it('is a date in the native format, never earlier than the limit is whole', () => {
    expect(encodeNativeRate(rate)).toEqual({
      'anthropic-ratelimit-requests-limit': '60',
      'anthropic-ratelimit-requests-remaining': '59',
      'anthropic-ratelimit-requests-reset': '2026-11-21T12:40:59Z',
      'ratelimit-policy': '"rpm";q=60;w=60',
      ratelimit: '"rpm";r=59;t=29',
    });
  });

  it('is a duration in the chat format', () => {
    expect(encodeChatRate(rate)).toEqual({
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
    expect(encodeChatRate({ ...rate, resetMs })['x-ratelimit-reset-requests']).toBe(text);
  });
});
