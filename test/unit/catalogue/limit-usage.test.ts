import { describe, expect, it } from 'vitest';
import { limitUsage } from '../../../src/catalogue/limit-usage.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';

const LIMITS = {
  outputTokensMax: 1_000,
  outputTokensSure: 0,
  inputTokensMax: 200_000,
  searchesMax: 0,
  cacheWrite: undefined,
};

describe('usage that an upstream reports', () => {
  it('is taken as it is, up to what was asked for and what the model can read', () => {
    const usage = { ...NO_USAGE, input: 150_000, cacheRead: 50_000, output: 1_000, thinking: 900 };
    expect(limitUsage(usage, LIMITS)).toEqual({ usage, isImplausible: false });
  });

  it.each([1e9, Number.MAX_SAFE_INTEGER])('is cut to that, and marked (%d tokens)', (many) => {
    expect(limitUsage({ ...NO_USAGE, input: 9, output: many, thinking: many }, LIMITS)).toEqual({
      usage: { ...NO_USAGE, input: 9, output: 1_000, thinking: 1_000 },
      isImplausible: true,
    });
    expect(limitUsage({ ...NO_USAGE, input: many, output: 1 }, LIMITS)).toEqual({
      usage: { ...NO_USAGE, input: 200_000, output: 1 },
      isImplausible: true,
    });
  });

  it('is cut to what was surely delivered, if that is more than was asked for, and marked', () => {
    const usage = { ...NO_USAGE, input: 9, output: 4_000 };
    expect(limitUsage(usage, { ...LIMITS, outputTokensSure: 3_000 })).toEqual({
      usage: { ...usage, output: 3_000 },
      isImplausible: true,
    });
    expect(limitUsage({ ...usage, output: 2_000 }, { ...LIMITS, outputTokensSure: 3_000 })).toEqual(
      { usage: { ...usage, output: 2_000 }, isImplausible: true },
    );
  });

  it('has no more thinking than output, and is marked if no answer could have so much', () => {
    const usage = { ...NO_USAGE, input: 9, output: 5 };
    expect(limitUsage({ ...usage, thinking: 6 }, LIMITS)).toEqual({
      usage: { ...usage, thinking: 5 },
      isImplausible: false,
    });
    expect(limitUsage({ ...usage, thinking: 1e15 }, LIMITS)).toEqual({
      usage: { ...usage, thinking: 5 },
      isImplausible: true,
    });
  });

  it('is cut to the searches that were asked for, and marked', () => {
    const usage = { ...NO_USAGE, input: 9, output: 1, searches: 8 };
    const limits = { ...LIMITS, searchesMax: 8 };
    expect(limitUsage(usage, limits)).toEqual({ usage, isImplausible: false });
    const dear = { ...usage, searches: 9 };
    expect(limitUsage(dear, limits)).toEqual({ usage, isImplausible: true });
    expect(limitUsage(dear, LIMITS)).toEqual({
      usage: { ...usage, searches: 0 },
      isImplausible: true,
    });
  });

  it('loses of its input what is usually the dearest', () => {
    const kinds = { cacheRead: 1_000, input: 2_000, cacheWrite5m: 1e9, cacheWrite1h: 1e9 };
    expect(limitUsage({ ...NO_USAGE, ...kinds }, LIMITS).usage).toEqual({
      ...{ ...NO_USAGE, ...kinds },
      ...{ cacheWrite5m: 197_000, cacheWrite1h: 0 },
    });
  });

  it.each([
    ['1h', { cacheWrite5m: 10, cacheWrite1h: 60 }],
    ['5m', { cacheWrite5m: 50, cacheWrite1h: 20 }],
    [undefined, { cacheWrite5m: 50, cacheWrite1h: 20 }],
  ] as const)(
    'has what was written to a cache for nobody knows how long at the dearest kind asked for: %s',
    (cacheWrite, written) => {
      const reported = {
        ...NO_USAGE,
        input: 9,
        cacheWrite5m: 50,
        cacheWrite1h: 20,
        untimedWrite: 40,
      };
      expect(limitUsage(reported, { ...LIMITS, cacheWrite })).toEqual({
        usage: { ...NO_USAGE, input: 9, ...written },
        isImplausible: false,
      });
    },
  );

  it('is not marked for the few tokens that end an answer, which are not charged either', () => {
    const usage = { ...NO_USAGE, input: 9, output: 1_000 };
    expect(limitUsage({ ...usage, output: 1_032 }, LIMITS)).toEqual({
      usage,
      isImplausible: false,
    });
    expect(limitUsage({ ...usage, output: 1_033 }, LIMITS)).toEqual({ usage, isImplausible: true });
  });
});
