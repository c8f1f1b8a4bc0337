import { describe, expect, it } from 'vitest';
import { NO_USAGE } from '../../../../../src/protocol/answers/no-usage.ts';
import { decodeUsage } from '../../../../../src/protocol/chat/answers/decode-usage.ts';
import { decodeUsage as decodeResponsesUsage } from '../../../../../src/protocol/responses/answers/decode-usage.ts';

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
      total_tokens: 6,
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

  it('has what the cache had under the names that Kimi and DeepSeek give it', () => {
    const counts = { prompt_tokens: 10_904, completion_tokens: 19, total_tokens: 10_923 };
    const expected = { ...NO_USAGE, input: 368, cacheRead: 10_536, output: 19 };
    const deepseek = { prompt_cache_hit_tokens: 10_536, prompt_cache_miss_tokens: 368 };
    for (const told of [{ cached_tokens: 10_536 }, { ...deepseek, prompt_tokens_details: null }]) {
      expect(decodeUsage({ ...counts, ...told })).toEqual(expected);
    }
    const both = { prompt_tokens_details: { cached_tokens: 10_536 }, cached_tokens: 1 };
    expect(decodeUsage({ ...counts, ...both })).toEqual(expected);
  });

  it('has the cache beside the prompt where the total says so', () => {
    const counts = { prompt_tokens: 368, completion_tokens: 19, total_tokens: 10_923 };
    const expected = { ...NO_USAGE, input: 368, cacheRead: 10_000, cacheWrite5m: 536, output: 19 };
    const native = { cache_read_input_tokens: 10_000, cache_creation_input_tokens: 536 };
    const details = { cached_tokens: 10_000, cache_write_tokens: 536 };
    expect(decodeUsage({ ...counts, ...native })).toEqual(expected);
    expect(decodeUsage({ ...counts, prompt_tokens_details: details })).toEqual(expected);
    const responses = {
      input_tokens: 368,
      output_tokens: 19,
      total_tokens: 10_923,
      input_tokens_details: details,
    };
    expect(decodeResponsesUsage(responses)).toEqual(expected);
  });

  it('has the cache beside the prompt where it is larger, and the rest as thoughts', () => {
    const counts = { prompt_tokens: 100, completion_tokens: 20 };
    const details = { prompt_tokens_details: { cached_tokens: 50_000 } };
    const expected = { ...NO_USAGE, input: 100, cacheRead: 50_000, output: 20 };
    expect(decodeUsage({ ...counts, ...details })).toEqual(expected);
    const thoughts = { ...counts, ...details, total_tokens: 50_150 };
    expect(decodeUsage(thoughts)).toEqual({ ...expected, output: 50 });
  });

  it('has thoughts in its output beside a cache that the prompt includes', () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 50,
      total_tokens: 1_350,
      prompt_tokens_details: { cached_tokens: 200 },
    };
    const expected = { ...NO_USAGE, input: 800, cacheRead: 200, output: 350 };
    expect(decodeUsage(usage)).toEqual(expected);
  });

  it('does not take the total for output where the prompt is not reported', () => {
    expect(decodeUsage({ completion_tokens: 2, total_tokens: 50 })).toEqual({
      ...NO_USAGE,
      output: 2,
    });
  });

  it('has the counts that can be read beside those that cannot', () => {
    const usage = { prompt_tokens: null, completion_tokens: 2, total_tokens: -1 };
    expect(decodeUsage(usage)).toEqual({ ...NO_USAGE, output: 2 });
    const details = {
      prompt_tokens_details: 7,
      completion_tokens_details: { reasoning_tokens: 1.5 },
    };
    const reported = { ...usage, prompt_tokens: 3, cached_tokens: -2, ...details };
    expect(decodeUsage(reported)).toEqual({ ...NO_USAGE, input: 3, output: 2 });
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
