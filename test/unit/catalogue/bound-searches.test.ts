import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundSearches } from '../../../src/catalogue/bound-searches.ts';
import {
  boundInput,
  boundSearchedInput,
  estimateHold,
} from '../../../src/catalogue/estimate-hold.ts';
import { limitUsage } from '../../../src/catalogue/limit-usage.ts';
import { priceUsage } from '../../../src/catalogue/price-usage.ts';
import { FILE_BOUNDS, findModel } from './models.ts';

const UNPRICED = findModel('llm-opus-4.7').price;
const PRICE = { ...UNPRICED, webSearch: 10 };
const OTHERS = [
  { name: 'a', max_uses: 'x' },
  { name: 'b', type: 'custom', max_uses: -1 },
  { name: 'c', type: 'bash_20250124' },
];
const search = (maxUses: unknown) => ({
  ...{ name: 'web_search', type: 'web_search_20250305', max_uses: maxUses },
});

describe('the searches that a request may set off', () => {
  it('are the uses of all the tools that search', () => {
    expect(boundSearches([], UNPRICED)).toBe(0);
    expect(boundSearches(OTHERS, UNPRICED)).toBe(0);
    expect(boundSearches([...OTHERS, search(8)], PRICE)).toBe(8);
    expect(boundSearches([search(1), search(99)], PRICE)).toBe(100);
    for (const type of ['WEB_SEARCH_20250305', 'web_search', 'Web_Search']) {
      const written = { ...search(3), type };
      expect(boundSearches([written], PRICE)).toBe(3);
      expect(() => boundSearches([written], UNPRICED)).toThrow('is not sold here');
    }
  });

  it('may cost nothing, which is a price too', () => {
    expect(boundSearches([search(8)], { ...PRICE, webSearch: 0 })).toBe(8);
  });

  it('hold no less than the same request without them', () => {
    const estimate = {
      ...{ likely: 800_000, least: 150_000, most: 2_400_000, unsure: 500 },
      ...{ files: undefined, cacheWrite: undefined },
    };
    const tokensMax = (searchesMax: number) =>
      boundInput(estimate, { files: FILE_BOUNDS, windowTokens: 200_000, searchesMax }).tokensMax;
    expect([0, 1, 4].map(tokensMax)).toEqual([800_500, 800_500, 1_000_000]);
  });

  it('hold what they can cost, whatever an upstream reports', () => {
    const counts = fc.nat({ max: 1e12 });
    const reported = fc.record({
      ...{ input: counts, cacheRead: counts, cacheWrite5m: counts, cacheWrite1h: counts },
      ...{ output: counts, thinking: counts, searches: counts },
    });
    const asked = fc.record({
      searchesMax: fc.integer({ min: 1, max: 100 }),
      windowTokens: fc.integer({ min: 1, max: 1_000_000 }),
      outputTokensMax: fc.integer({ min: 1, max: 100_000 }),
    });
    const estimate = {
      ...{ likely: 100, least: 1, most: 100, unsure: 0, files: undefined },
      cacheWrite: '1h' as const,
    };
    fc.assert(
      fc.property(reported, asked, (usage, { searchesMax, windowTokens, outputTokensMax }) => {
        const bounds = { files: FILE_BOUNDS, windowTokens, searchesMax };
        const input = boundInput(estimate, bounds);
        const { holdMicros } = estimateHold({
          ...{ input, outputTokensMax, isElastic: false, price: PRICE },
        });
        const inputTokensMax = boundSearchedInput(searchesMax, windowTokens);
        const { cacheWrite } = estimate;
        const output = { outputTokensMax, outputTokensSure: 0 };
        const limits = { ...output, inputTokensMax, searchesMax, cacheWrite };
        const charged = priceUsage(limitUsage(usage, limits).usage, PRICE);
        expect(charged).toBeLessThanOrEqual(holdMicros);
      }),
    );
  });
});
