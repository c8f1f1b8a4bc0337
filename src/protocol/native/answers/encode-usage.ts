import { mergeCounts } from '../../answers/merge-counts.ts';
import type { Usage } from '../../inference.ts';
import { type Json, readObject } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/**
 * The usage in a whole answer and in the start of a stream. No number is ever null: clients rely on
 * that.
 */
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

/**
 * The usage at the end of a stream. It covers the whole answer, because clients overwrite what they
 * had.
 */
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

/** Merges our usage with the unknown fields of an upstream's message. */
export function mendUsage(message: Json, usage: Usage): Json {
  const ours = encodeUsage(usage);
  const { service_tier: _, ...counts } = ours;
  return { ...ours, ...mergeUsage(readObject(message, 'usage'), counts, usage) };
}

/** The same for the end of a stream. */
export const mendFinalUsage = (ending: Json, usage: Usage) =>
  mergeUsage(readObject(ending, 'usage'), encodeFinalUsage(usage), usage);

function mergeUsage(
  reported: Json,
  counts: Parameters<typeof mergeCounts>[1],
  { searches }: Usage,
): Json {
  const reportsTools = isObject(reported['server_tool_use']);
  return mergeCounts(reported, {
    ...counts,
    ...(reportsTools && { server_tool_use: { web_search_requests: searches } }),
  });
}
