import type { Usage } from '../../inference.ts';
import type { Json } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/** What a whole answer and the start of a stream say of it. No number is ever null: clients count on that. */
export function encodeUsage(usage: Usage) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.output,
    ...encodeThinking(usage),
    ...encodeSearches(usage),
    service_tier: 'standard',
  };
}

/** What the end of a stream says: of the whole answer, as clients overwrite what they had. */
export function encodeFinalUsage(usage: Usage) {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    ...encodeThinking(usage),
    ...encodeSearches(usage),
  };
}

const encodeThinking = ({ thinking }: Usage) =>
  thinking > 0 ? { output_tokens_details: { thinking_tokens: thinking } } : undefined;

const encodeSearches = ({ searches }: Usage) =>
  searches > 0 ? { server_tool_use: { web_search_requests: searches } } : undefined;

/** Ours in what an upstream told of its tools; what nobody here knows stays in it. */
export function mendSearches(told: Json, { searches }: Usage) {
  const tools = told['server_tool_use'];
  return isObject(tools)
    ? { server_tool_use: { ...tools, web_search_requests: searches } }
    : undefined;
}
