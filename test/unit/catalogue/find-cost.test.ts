import { describe, expect, it } from 'vitest';
import { createFindCost } from '../../../src/catalogue/find-cost.ts';
import { parseConfig } from '../../../src/config/parse-config.ts';
import { NO_USAGE } from '../../../src/protocol/answers/no-usage.ts';

const text = `
upstreams:
  - name: dear
    kind: simulated
    cost:
      llm-opus-4.7: {input: 3, output: 12, cache_read: 0.2, web_search: 8}
      llm-haiku-4.5: {input: 0.000001, output: 0}
  - name: cheap
    kind: simulated
    cost: {llm-opus-4.7: {input: 1, output: 2}}
`;
const findCost = createFindCost(parseConfig({ path: undefined, text, env: {} }).upstreams);
const MILLION = 1_000_000;

describe('the cost of a usage', () => {
  it('is what this upstream asks for this model', () => {
    const usage = { ...NO_USAGE, input: 1_000, output: 100 };
    expect(findCost('dear', 'llm-opus-4.7', usage)).toBe(3_000 + 1_200);
    expect(findCost('cheap', 'llm-opus-4.7', usage)).toBe(1_000 + 200);
  });

  it('counts every kind of token, and searches by the thousand', () => {
    const usage = {
      ...NO_USAGE,
      cacheRead: MILLION,
      cacheWrite5m: MILLION,
      cacheWrite1h: MILLION,
      searches: 1_000,
    };
    expect(findCost('dear', 'llm-opus-4.7', usage)).toBe((0.2 + 3.75 + 6 + 8) * MILLION);
    expect(findCost('cheap', 'llm-opus-4.7', usage)).toBe((0.1 + 1.25 + 2) * MILLION);
  });

  it('is rounded up to whole micro-credits', () => {
    expect(findCost('dear', 'llm-haiku-4.5', { ...NO_USAGE, input: 1 })).toBe(1);
    expect(findCost('dear', 'llm-haiku-4.5', { ...NO_USAGE, output: 1 })).toBe(0);
  });

  it('is unknown where no cost is set', () => {
    expect(findCost('cheap', 'llm-haiku-4.5', NO_USAGE)).toBeUndefined();
    expect(findCost('other', 'llm-opus-4.7', NO_USAGE)).toBeUndefined();
    expect(findCost('cheap', 'constructor', NO_USAGE)).toBeUndefined();
  });
});
