import type { Usage } from '../../inference.ts';
import { readCount } from '../../json/upstream-json.ts';
import { isObject } from '../../schema.ts';

/** Merges the latest usage into the earlier one: an upstream may leave out what has not changed. */
export function decodeUsage(value: unknown, before: Usage): Usage {
  const usage = isObject(value) ? value : {};
  const split = isObject(usage['cache_creation']) ? usage['cache_creation'] : {};
  const details = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {};
  const tools = usage['server_tool_use'];

  const written =
    readCount(usage['cache_creation_input_tokens']) ?? before.cacheWrite5m + before.cacheWrite1h;
  const reported1h = readCount(split['ephemeral_1h_input_tokens']);
  const reported5m = readCount(split['ephemeral_5m_input_tokens']);
  const isTimed = reported1h !== undefined || reported5m !== undefined;
  const cacheWrite1h = reported1h ?? Math.min(before.cacheWrite1h, written);
  // What the split leaves out of the total was written too.
  const cacheWrite5m = Math.max(reported5m ?? 0, written - cacheWrite1h);
  const timed5m = isTimed ? (reported5m ?? 0) : before.cacheWrite5m - (before.untimedWrite ?? 0);
  const untimedWrite = Math.max(0, cacheWrite5m - timed5m);
  return {
    input: readCount(usage['input_tokens']) ?? before.input,
    cacheRead: readCount(usage['cache_read_input_tokens']) ?? before.cacheRead,
    cacheWrite5m,
    cacheWrite1h,
    ...(untimedWrite > 0 && { untimedWrite }),
    output: readCount(usage['output_tokens']) ?? before.output,
    thinking: readCount(details['thinking_tokens']) ?? before.thinking,
    searches:
      (isObject(tools) ? readCount(tools['web_search_requests']) : undefined) ?? before.searches,
  };
}

/** Whether an upstream reports any usage; some send the field without any number in it. */
export function reportsUsage(value: unknown): boolean {
  const usage = isObject(value) ? value : {};
  return (
    readCount(usage['input_tokens']) !== undefined ||
    readCount(usage['output_tokens']) !== undefined
  );
}
