import { describe, expect, it } from 'vitest';
import { createTokenRatios } from '../../../src/gateway/token-ratios.ts';

describe('the length of a token', () => {
  it('is the assumed one until enough is counted, and then that of the model', () => {
    const ratioOf = createTokenRatios(3);
    ratioOf('a').note(4 * 999, 999);
    expect(ratioOf('a').bytesPerToken).toBe(3);
    ratioOf('a').note(4, 1);
    expect(ratioOf('a').bytesPerToken).toBe(4);
    expect(ratioOf('b').bytesPerToken).toBe(3);
  });

  it('stays near what is assumed, whatever somebody makes a model say', () => {
    const ratioOf = createTokenRatios(3);
    ratioOf('long').note(1e9, 1_000);
    expect(ratioOf('long').bytesPerToken).toBe(6);
    ratioOf('short').note(1, 1e9);
    expect(ratioOf('short').bytesPerToken).toBe(1.5);
  });

  it('is hardly changed by a few answers of runs with very long tokens', () => {
    const ratio = createTokenRatios(3)('a');
    for (let i = 0; i < 90; i++) ratio.note(42_000, 10_000);
    for (let i = 0; i < 3; i++) ratio.note(640_000, 10_000);
    expect(ratio.bytesPerToken).toBeLessThan(4.4);
  });

  it('follows what a model says now', () => {
    const ratio = createTokenRatios(3)('a');
    for (let i = 0; i < 100; i++) ratio.note(50_000, 10_000);
    for (let i = 0; i < 400; i++) ratio.note(30_000, 10_000);
    expect(ratio.bytesPerToken).toBeCloseTo(3, 0);
  });
});
