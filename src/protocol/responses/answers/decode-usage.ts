import type { Usage } from '../../inference.ts';
import { readCount, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/** Returns `undefined` if an upstream reports no usage. Input includes what was cached. */
export function decodeUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = readCount(value['input_tokens']);
  const output = readCount(value['output_tokens']);
  if (input === undefined && output === undefined) return undefined;

  const inputTokens = input ?? 0;
  const details = readObject(value, 'input_tokens_details');
  const cacheRead = Math.min(readCount(details['cached_tokens']) ?? 0, inputTokens);
  const cacheWrite = Math.min(
    readCount(details['cache_write_tokens']) ?? 0,
    inputTokens - cacheRead,
  );
  // Some upstreams count thinking only in the total.
  const total = readCount(value['total_tokens']) ?? 0;
  const outputTokens = Math.max(output ?? 0, input === undefined ? 0 : total - inputTokens);
  const { reasoning_tokens: reasoning } = readObject(value, 'output_tokens_details');
  return {
    input: inputTokens - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: outputTokens,
    thinking: Math.min(readCount(reasoning) ?? 0, outputTokens),
    searches: 0,
  };
}
