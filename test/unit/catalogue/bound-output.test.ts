import { describe, expect, it } from 'vitest';
import { boundOutput, contextWindowOf } from '../../../src/catalogue/bound-output.ts';
import { estimateTokens } from '../../../src/catalogue/estimate-tokens.ts';
import type { InferenceRequest } from '../../../src/protocol/inference.ts';
import { createRequest } from '../upstream/simulated-support.ts';
import { findModel } from './models.ts';

const sonnet = findModel('llm-sonnet-4.6');
const opus = findModel('llm-opus-4.7');

function check(
  fields: Partial<InferenceRequest>,
  { model = sonnet, overCeiling = 'reject' as 'reject' | 'clamp', least = 10 } = {},
): number {
  const estimate = { likely: 2 * least, least, cacheWrite: undefined };
  return boundOutput(model, createRequest(fields), { overCeiling, estimate });
}

describe('boundOutput', () => {
  it('gives what was asked for, or the ceiling to those who asked for nothing', () => {
    expect(check({ outputTokensMax: 100 })).toBe(100);
    expect(check({ outputTokensMax: 16_384 })).toBe(16_384);
    expect(check({ outputTokensMax: undefined })).toBe(16_384);
  });

  it('refuses more than the ceiling in the words that clients read', () => {
    expect(() => check({ outputTokensMax: 32_000 })).toThrow(
      expect.objectContaining({
        refusal: 'invalid_request',
        param: 'max_tokens',
        message:
          'max_tokens: 32000 > 16384, which is the maximum allowed number of output tokens for llm-sonnet-4.6',
      }),
    );
  });

  it('gives the ceiling instead where the settings say so', () => {
    expect(check({ outputTokensMax: 32_000 }, { overCeiling: 'clamp' })).toBe(16_384);
  });

  it('refuses input that cannot fit in the words that clients read', () => {
    expect(() => check({}, { least: 205_000 })).toThrow(
      expect.objectContaining({
        refusal: 'context_too_long',
        message: 'prompt is too long: 205000 tokens > 200000 maximum',
        chatMessage: expect.stringContaining('maximum context length is 200000 tokens'),
      }),
    );
    expect(() => check({ outputTokensMax: 32_000 }, { model: opus, least: 190_000 })).toThrow(
      expect.objectContaining({
        refusal: 'context_too_long',
        message:
          'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or `max_tokens` and try again',
      }),
    );
  });

  it('holds against those who asked for no output only what their input takes', () => {
    expect(() => check({ outputTokensMax: undefined }, { least: 199_999 })).not.toThrow();
  });

  it('gives those who asked for no output what the input is likely to leave', () => {
    const given = (likely: number, model = sonnet) =>
      boundOutput(model, createRequest({ outputTokensMax: undefined }), {
        overCeiling: 'reject',
        estimate: { likely, least: 10 },
      });
    expect(given(183_616)).toBe(16_384);
    expect(given(183_617)).toBe(16_383);
    expect(given(190_000)).toBe(10_000);
    // An estimate can be too high: half of the ceiling, or an eighth of the window, is left to all.
    expect(given(191_809)).toBe(8_192);
    expect(given(900_000)).toBe(8_192);
    const small = { ...sonnet, contextTokensMax: 32_768, outputTokensMax: 32_768 };
    expect(given(8_768, small)).toBe(24_000);
    expect(given(30_000, small)).toBe(4_096);
  });

  it('takes input whose estimate is over the window while its least is not', () => {
    const text = 'word '.repeat(150_000);
    const request = createRequest({ messages: [{ role: 'user', content: text }] });
    const estimate = estimateTokens(request, 3);
    expect(estimate.likely).toBeGreaterThan(200_000);
    expect(boundOutput(sonnet, request, { overCeiling: 'reject', estimate })).toBe(1_000);
  });

  it('opens the wide window to those models only that have one', () => {
    const beta = createRequest({ isBetaContext: true });
    expect(contextWindowOf(opus, beta)).toBe(1_000_000);
    expect(contextWindowOf(sonnet, beta)).toBe(200_000);
    expect(contextWindowOf(opus, createRequest())).toBe(200_000);
    expect(check({ isBetaContext: true }, { model: opus, least: 900_000 })).toBe(1_000);
  });
});
