import type { Usage } from '../../inference.ts';
import { readCount, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/** Returns `undefined` if an upstream reports no usage. */
export function decodeUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const prompt = readCount(value['prompt_tokens']);
  const completion = readCount(value['completion_tokens']);
  if (prompt === undefined && completion === undefined) return undefined;

  const promptTokens = prompt ?? 0;
  const promptDetails = readObject(value, 'prompt_tokens_details');
  const cacheRead = Math.min(readCount(promptDetails['cached_tokens']) ?? 0, promptTokens);
  const cacheWrite = Math.min(
    readCount(promptDetails['cache_write_tokens']) ?? 0,
    promptTokens - cacheRead,
  );
  // Some upstreams count thinking only in the total.
  const total = readCount(value['total_tokens']) ?? 0;
  const output = Math.max(completion ?? 0, prompt === undefined ? 0 : total - promptTokens);
  const { reasoning_tokens: reasoning } = readObject(value, 'completion_tokens_details');
  return {
    input: promptTokens - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output,
    thinking: Math.min(readCount(reasoning) ?? 0, output),
    searches: 0,
  };
}
