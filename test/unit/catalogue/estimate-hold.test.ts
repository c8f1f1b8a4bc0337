import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  affordableOutputTokens,
  estimateHold,
  type InputBound,
} from '../../../src/catalogue/estimate-hold.ts';
import { priceUsage } from '../../../src/catalogue/price-usage.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';
import { findModel } from './models.ts';

const price = { ...findModel('llm-opus-4.7').price, webSearch: 10 };

const inputOf = (
  tokensMax: number,
  cacheWrite: InputBound['cacheWrite'] = undefined,
  searchesMax = 0,
): InputBound => ({ tokensMax, cacheWrite, searchesMax });

const holdOf = (input: InputBound, outputTokensMax: number, isElastic = false) =>
  estimateHold({ input, outputTokensMax, isElastic, price });

const inputs = fc.record({
  tokensMax: fc.nat({ max: 1_000_000 }),
  cacheWrite: fc.constantFrom(undefined, '5m' as const, '1h' as const),
  searchesMax: fc.nat({ max: 100 }),
});
const outputTokens = fc.nat({ max: 200_000 });
const creditPrices = fc.record({
  input: fc.nat({ max: 50_000_000 }).map((micros) => micros / 1e6),
  output: fc.integer({ min: 1, max: 50_000_000 }).map((micros) => micros / 1e6),
  cacheRead: fc.constant(0),
  cacheWrite5m: fc.nat({ max: 50_000_000 }).map((micros) => micros / 1e6),
  cacheWrite1h: fc.nat({ max: 50_000_000 }).map((micros) => micros / 1e6),
  webSearch: fc.option(
    fc.nat({ max: 50_000_000 }).map((micros) => micros / 1e6),
    { nil: undefined },
  ),
});

describe('estimateHold', () => {
  it('is all of the input and all the output that may come, rounded up once', () => {
    expect(holdOf(inputOf(1_000), 100)).toEqual({ holdMicros: 7_500, holdLeastMicros: 7_500 });
    const fine = { ...price, input: 0.5, output: 0.5 };
    expect(
      estimateHold({ input: inputOf(1), outputTokensMax: 1, isElastic: false, price: fine })
        .holdMicros,
    ).toBe(1);
  });

  it('takes all input for written to the cache where the request asks for that', () => {
    expect(holdOf(inputOf(1_000, '5m'), 0).holdMicros).toBe(6_250);
    expect(holdOf(inputOf(1_000, '1h'), 0).holdMicros).toBe(10_000);
  });

  it('takes the dearest price that can apply, also where the cache is cheaper than input', () => {
    const cheap = { ...price, cacheWrite5m: 7, cacheWrite1h: 1 };
    const hold = (cacheWrite: '5m' | '1h', of: typeof price) =>
      estimateHold({
        input: inputOf(1_000, cacheWrite),
        outputTokensMax: 0,
        isElastic: false,
        price: of,
      }).holdMicros;
    expect(hold('1h', cheap)).toBe(7_000);
    expect(hold('5m', { ...cheap, cacheWrite5m: 1 })).toBe(5_000);
  });

  it('has the price of all the searches that there may be', () => {
    expect(holdOf(inputOf(1_000, undefined, 8), 100).holdMicros).toBe(7_500 + 80_000);
  });

  it('begins an answer without a maximum with room for 256 tokens, or for its ceiling', () => {
    expect(holdOf(inputOf(1_000), 32_000, true)).toEqual({
      holdMicros: 805_000,
      holdLeastMicros: 5_000 + 256 * 25,
    });
    expect(holdOf(inputOf(1_000), 100, true)).toEqual({
      holdMicros: 7_500,
      holdLeastMicros: 7_500,
    });
  });

  it('covers every usage within the bound of the input, wherever that was read or written', () => {
    fc.assert(
      fc.property(
        inputs,
        outputTokens,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (input, output, readShare, writeShare) => {
          const cacheRead = Math.floor(input.tokensMax * readShare);
          const written =
            input.cacheWrite === undefined
              ? 0
              : Math.floor((input.tokensMax - cacheRead) * writeShare);
          const rest = input.tokensMax - cacheRead - written;
          const writes =
            input.cacheWrite === '1h' ? { cacheWrite1h: written } : { cacheWrite5m: written };
          const searches = Math.floor(input.searchesMax * readShare);
          const usage = { ...NO_USAGE, input: rest, cacheRead, ...writes, output, searches };
          const { holdMicros, holdLeastMicros } = holdOf(input, output);
          expect(priceUsage(usage, price)).toBeLessThanOrEqual(holdMicros);
          expect(holdLeastMicros).toBe(holdMicros);
        },
      ),
    );
  });
});

describe('affordableOutputTokens', () => {
  const afford = (heldMicros: number, input = inputOf(1_000)) =>
    affordableOutputTokens({ input, heldMicros, price });

  it('is what is left of the hold beside the input', () => {
    expect(afford(7_500)).toBe(100);
    expect(afford(7_524)).toBe(100);
    expect(afford(7_525)).toBe(101);
    expect(afford(5_000)).toBe(0);
    expect(afford(4_999)).toBe(0);
    expect(afford(10_000, inputOf(1_000, '1h'))).toBe(0);
  });

  it('has no end where output costs nothing', () => {
    const free = { ...price, output: 0 };
    const input = inputOf(1_000);
    expect(affordableOutputTokens({ input, heldMicros: 5_000, price: free })).toBe(
      Number.MAX_SAFE_INTEGER,
    );
    expect(affordableOutputTokens({ input, heldMicros: 4_999, price: free })).toBe(0);
  });

  it('is the longest answer whose hold is not above what is held', () => {
    fc.assert(
      fc.property(inputs, fc.nat({ max: 2_000_000_000 }), creditPrices, (input, spare, prices) => {
        const hold = (outputTokensMax: number) =>
          estimateHold({ input, outputTokensMax, isElastic: false, price: prices }).holdMicros;
        const heldMicros = hold(0) + spare;
        const longest = affordableOutputTokens({ input, heldMicros, price: prices });
        expect(hold(longest)).toBeLessThanOrEqual(heldMicros);
        expect(hold(longest + 1)).toBeGreaterThan(heldMicros);
      }),
    );
  });

  it('gives back no less than what was asked for when the hold is whole', () => {
    fc.assert(
      fc.property(inputs, outputTokens, (input, outputTokensMax) => {
        const { holdMicros } = holdOf(input, outputTokensMax);
        expect(afford(holdMicros, input)).toBeGreaterThanOrEqual(outputTokensMax);
      }),
    );
  });
});
