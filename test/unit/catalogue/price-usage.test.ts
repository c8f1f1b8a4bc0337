import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Price } from '../../../src/catalogue/catalogue.ts';
import { priceUsage } from '../../../src/catalogue/price-usage.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import type { Usage } from '../../../src/protocol/inference.ts';
import { findModel } from './models.ts';

const OPUS = findModel('llm-opus-4.7').price;
const NO_PRICE: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };
const COUNTS = ['input', 'cacheRead', 'cacheWrite5m', 'cacheWrite1h', 'output'] as const;
const SEARCHING = { ...OPUS, webSearch: 10 };

const tokens = fc.oneof(
  fc.nat({ max: 2_000_000 }),
  fc.nat({ max: 10 }),
  fc.nat({ max: 1_000_000_000_000 }),
);
const usages: fc.Arbitrary<Usage> = fc
  .record(Object.fromEntries(COUNTS.map((name) => [name, tokens])))
  .map((counts) => ({ ...NO_USAGE, ...counts }));
/** In micro-credits, so that the reference needs no rounding. */
const priceMicros = fc.record(
  Object.fromEntries(
    COUNTS.map((name) => [
      name,
      fc.oneof(fc.nat({ max: 100_000_000 }), fc.nat({ max: 1_000_000_000_000 })),
    ]),
  ),
);
const asPrice = (micros: Record<string, number>): Price => ({
  ...NO_PRICE,
  ...Object.fromEntries(COUNTS.map((name) => [name, (micros[name] ?? 0) / 1e6])),
});
const prices = priceMicros.map(asPrice);

describe('priceUsage', () => {
  it.each([
    ['nothing', {}, 0],
    ['one input token', { input: 1 }, 5],
    ['one output token', { output: 1 }, 25],
    ['a million of each', { input: 1e6, output: 1e6 }, 30_000_000],
    ['a read of one token, half a micro-credit', { cacheRead: 1 }, 1],
    ['a read of two tokens', { cacheRead: 2 }, 1],
    ['two halves, rounded up once', { cacheRead: 1, cacheWrite5m: 2 }, 13],
    ['a write for 5 minutes', { cacheWrite5m: 1_000 }, 6_250],
    ['a write for an hour', { cacheWrite1h: 1_000 }, 10_000],
    ['output with thinking in it', { output: 100, thinking: 90 }, 2_500],
    [
      'a request of a coding agent',
      { input: 12, cacheRead: 84_213, cacheWrite5m: 1_904, output: 731 },
      72_342,
    ],
  ] satisfies [string, Partial<Usage>, number][])('prices %s', (_what, counts, micros) => {
    expect(priceUsage({ ...NO_USAGE, ...counts }, OPUS)).toBe(micros);
  });

  it('prices searches by the thousand, beside tokens', () => {
    expect(priceUsage({ ...NO_USAGE, searches: 1 }, SEARCHING)).toBe(10_000);
    expect(priceUsage({ ...NO_USAGE, input: 1, searches: 3 }, SEARCHING)).toBe(30_005);
    expect(priceUsage({ ...NO_USAGE, searches: 1 }, { ...OPUS, webSearch: 0.000_001 })).toBe(1);
    expect(priceUsage({ ...NO_USAGE, input: 1, searches: 3 }, OPUS)).toBe(5);
    const many = { ...NO_USAGE, input: 1e12, searches: 1e6 };
    expect(priceUsage(many, SEARCHING)).toBe(5e12 + 1e10);
  });

  it('takes prices as they are written, without binary dust', () => {
    for (const input of [0.1, 0.3, 1.1, 2.2, 4.35, 1.005, 0.07]) {
      const usage = { ...NO_USAGE, input: 1_000_000 };
      expect(priceUsage(usage, { ...NO_PRICE, input })).toBe(Math.round(input * 1e6));
    }
  });

  it('rounds up a price that is finer than a micro-credit for a million tokens', () => {
    const usage = { ...NO_USAGE, input: 1_000_000 };
    expect(priceUsage(usage, { ...NO_PRICE, input: 0.0000001 })).toBe(1);
    expect(priceUsage(usage, { ...NO_PRICE, input: 1.0000014 })).toBe(1_000_002);
  });

  it('is exact where a sum is beyond what a number can hold', () => {
    const usage = { ...NO_USAGE, input: 9_007_199_255, output: 1 };
    const price = { ...NO_PRICE, input: 1, output: 0.000001 };
    expect(priceUsage(usage, price)).toBe(9_007_199_256);
    const input = 9_007_199_254_740_991;
    expect(priceUsage({ ...NO_USAGE, input }, { ...NO_PRICE, input: 1 })).toBe(input);
  });

  it('rounds up the smallest rest of the largest sum that a number can hold', () => {
    const usage = { ...NO_USAGE, input: 9_007_199_254, output: 1 };
    expect(priceUsage(usage, { ...NO_PRICE, input: 1, output: 0.000001 })).toBe(9_007_199_255);
  });

  it('equals a reference in whole numbers of any size', () => {
    fc.assert(
      fc.property(usages, priceMicros, (usage, micros) => {
        const sum = COUNTS.reduce(
          (total, name) => total + BigInt(usage[name]) * BigInt(micros[name] ?? 0),
          0n,
        );
        const reference = sum / 1_000_000n + (sum % 1_000_000n > 0n ? 1n : 0n);
        expect(priceUsage(usage, asPrice(micros))).toBe(Number(reference));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is a whole number that is never negative and grows with every count', () => {
    fc.assert(
      fc.property(
        usages,
        prices,
        fc.constantFrom(...COUNTS),
        tokens,
        (usage, price, name, more) => {
          const charge = priceUsage(usage, price);
          expect(Number.isInteger(charge) && charge >= 0).toBe(true);
          const grown = { ...usage, [name]: usage[name] + more };
          expect(priceUsage(grown, price)).toBeGreaterThanOrEqual(charge);
        },
      ),
    );
  });

  it('never makes a read from the cache dearer than plain input', () => {
    fc.assert(
      fc.property(usages, prices, tokens, (usage, price, count) => {
        const fair = { ...price, cacheRead: Math.min(price.cacheRead, price.input) };
        const read = priceUsage({ ...usage, cacheRead: usage.cacheRead + count }, fair);
        const plain = priceUsage({ ...usage, input: usage.input + count }, fair);
        expect(read).toBeLessThanOrEqual(plain);
      }),
    );
  });

  it('asks no more for the whole than for its parts', () => {
    const ofEach = (value: fc.Arbitrary<number>) =>
      fc.record(Object.fromEntries(COUNTS.map((name) => [name, value])));
    const moderate = ofEach(fc.nat({ max: 2_000_000 })).map((counts) => ({
      ...NO_USAGE,
      ...counts,
    }));
    const cheap = ofEach(fc.nat({ max: 100_000_000 })).map(asPrice);
    fc.assert(
      fc.property(moderate, cheap, (usage, price) => {
        const parts = COUNTS.map((name) => priceUsage({ ...NO_USAGE, [name]: usage[name] }, price));
        const sum = parts.reduce((total, part) => total + part, 0);
        const whole = priceUsage(usage, price);
        expect(sum).toBeGreaterThanOrEqual(whole);
        expect(sum - whole).toBeLessThan(COUNTS.length);
      }),
    );
  });
});
