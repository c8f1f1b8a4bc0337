import type { Usage } from '../inference.ts';
import { type Json, readCount, readObject } from '../json/upstream-json.ts';
import { isObject } from '../schema.ts';

/** What a format calls its counts. */
export interface CountNames {
  readonly input: string;
  readonly inputDetails: string;
  readonly output: string;
  readonly outputDetails: string;
}

/**
 * Reads the usage of a format whose input includes the part that came from the cache. Returns
 * `undefined` if an upstream reports none.
 */
export function decodeInclusiveUsage(value: unknown, names: CountNames): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = readCount(value[names.input]);
  const output = readCount(value[names.output]);
  if (input === undefined && output === undefined) return undefined;

  const cache = readCache(value, readObject(value, names.inputDetails));
  const cached = cache.read + cache.write;
  const total = readCount(value['total_tokens']);
  const isTotalUsable = input !== undefined && total !== undefined;
  const rest = isTotalUsable ? total - input - (output ?? 0) : undefined;
  const beside = input !== undefined && isCacheBeside(cached, input, rest) ? cached : 0;
  const allInput = (input ?? 0) + beside;
  const cacheRead = Math.min(cache.read, allInput);
  const cacheWrite = Math.min(cache.write, allInput - cacheRead);
  // Some upstreams count thinking only in the total.
  const allOutput = (output ?? 0) + Math.max(0, (rest ?? 0) - beside);
  const { reasoning_tokens: reasoning } = readObject(value, names.outputDetails);
  return {
    input: allInput - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: allOutput,
    thinking: Math.min(readCount(reasoning) ?? 0, allOutput),
    searches: 0,
  };
}

/** Kimi, DeepSeek and gateways to Bedrock have names of their own for it. */
function readCache(usage: Json, details: Json) {
  const read =
    readCount(details['cached_tokens']) ??
    readCount(usage['cached_tokens']) ??
    readCount(usage['prompt_cache_hit_tokens']) ??
    readCount(usage['cache_read_input_tokens']);
  const write =
    readCount(details['cache_write_tokens']) ?? readCount(usage['cache_creation_input_tokens']);
  return { read: read ?? 0, write: write ?? 0 };
}

/**
 * Gateways to Bedrock report the input without the cache, and a total with it. `rest` is what the
 * total has beyond input and output. Where it is larger than the cache it may be thoughts, unless
 * the cache is too large to be a part of the input.
 */
function isCacheBeside(cached: number, input: number, rest: number | undefined): boolean {
  if (rest === cached) return true;
  return cached > input && (rest === undefined || rest > cached);
}
