import type { Usage } from '../../inference.ts';

/** In this format the prompt includes cached tokens. */
export function encodeUsage(usage: Usage) {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWrite },
    completion_tokens_details: { reasoning_tokens: usage.thinking },
  };
}
