import type { Usage } from '../../inference.ts';

/** In this format the input includes cached tokens. */
export function encodeUsage(usage: Usage) {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.input + usage.cacheRead + cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.thinking },
    total_tokens: input + usage.output,
  };
}
