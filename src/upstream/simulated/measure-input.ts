import type { InferenceRequest, Usage } from '../../protocol/inference.ts';
import { digestPrefixes } from './digest-prefixes.ts';
import type { PromptCache } from './prompt-cache.ts';

/**
 * A growing conversation moves its marker along. The last place of the marker is found up to this
 * many blocks back.
 */
const LOOKBACK_BLOCKS_MAX = 20;

interface MeasureOptions {
  readonly model: string;
  readonly cache: PromptCache;
  countTokens(request: InferenceRequest): number;
}

/**
 * The usage of a request's input. Up to the last of its cache markers, input counts as read from
 * the cache as far as a prefix of it is remembered, and as written for the rest. Unlike with a real
 * model, no prefix is too short.
 */
export function measureInput(
  request: InferenceRequest,
  { model, cache, countTokens }: MeasureOptions,
): Usage {
  const total = countTokens(request);
  const usage = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, searches: 0 };
  if (!hasMarkers(request)) return { ...usage, input: total, output: 0, thinking: 0 };

  const prefixes = digestPrefixes(model, request);
  const marked = [...prefixes.keys()].filter((index) => prefixes[index]?.ttl !== undefined);
  const isNearMarker = (index: number) =>
    marked.some((mark) => index <= mark && mark - index <= LOOKBACK_BLOCKS_MAX);
  const read = prefixes.findLastIndex(
    (prefix, index) => isNearMarker(index) && cache.touch(prefix.digest),
  );
  const tokensTo = (index: number) => {
    const prefix = prefixes[index];
    return prefix === undefined ? 0 : Math.min(total, countTokens(prefix.toRequest()));
  };
  usage.cacheRead = tokensTo(read);
  let covered = usage.cacheRead;
  for (const index of marked.filter((mark) => mark > read)) {
    const prefix = prefixes[index];
    if (prefix?.ttl === undefined) continue;
    const tokens = tokensTo(index);
    usage[prefix.ttl === '1h' ? 'cacheWrite1h' : 'cacheWrite5m'] += tokens - covered;
    cache.write(prefix.digest, prefix.ttl);
    covered = tokens;
  }
  return { ...usage, input: total - covered, output: 0, thinking: 0 };
}

/** Most requests have no markers and need no digest. */
function hasMarkers(request: InferenceRequest): boolean {
  const isMarked = (block: object) => 'cache_control' in block && block.cache_control != null;
  return (
    request.cacheControl !== undefined ||
    request.tools.some(isMarked) ||
    (Array.isArray(request.system) && request.system.some(isMarked)) ||
    request.messages.some(({ content }) => typeof content !== 'string' && content.some(isMarked))
  );
}
