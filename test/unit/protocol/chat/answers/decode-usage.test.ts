import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../../src/protocol/answers/no-usage.ts';
import { decodeUsage } from '../../../../../src/protocol/chat/answers/decode-usage.ts';

describe('the usage that a chat upstream reports', () => {
  it('has the prompt without what the cache had of it', () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      completion_tokens_details: { reasoning_tokens: 5 },
    };
    expect(decodeUsage(usage)).toEqual({
      ...NO_USAGE,
      input: 10,
      cacheRead: 60,
      cacheWrite5m: 30,
      output: 20,
      thinking: 5,
      searches: 0,
    });
  });

  it('has thoughts in its output where they are in the total alone', () => {
    const usage = {
      prompt_tokens: 10,
      completion_tokens: 4,
      total_tokens: 64,
      completion_tokens_details: { reasoning_tokens: 50 },
    };
    expect(decodeUsage(usage)).toEqual({
      ...NO_USAGE,
      input: 10,
      output: 54,
      thinking: 50,
      searches: 0,
    });
  });

  it('has never more of a part than of the whole', () => {
    const usage = {
      prompt_tokens: 5,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens: 9, cache_write_tokens: 9 },
      completion_tokens_details: { reasoning_tokens: 9 },
    };
    expect(decodeUsage(usage)).toEqual({
      ...NO_USAGE,
      cacheRead: 5,
      output: 1,
      thinking: 1,
      searches: 0,
    });
  });

  it('does not take the total for output where the prompt is not reported', () => {
    expect(decodeUsage({ completion_tokens: 2, total_tokens: 50 })).toEqual({
      ...NO_USAGE,
      output: 2,
    });
  });

  it('is none where nothing is reported', () => {
    for (const value of [
      undefined,
      null,
      'x',
      [],
      {},
      { prompt_tokens: -1 },
      { total_tokens: 5 },
    ]) {
      expect(decodeUsage(value)).toBeUndefined();
    }
    expect(decodeUsage({ prompt_tokens: 1.5, completion_tokens: 2 })).toEqual({
      ...NO_USAGE,
      output: 2,
    });
  });
});
