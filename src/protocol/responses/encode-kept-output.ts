const LOGPROBS = /"logprobs":\[[^\]]/;

/**
 * Encodes the items of an answer that is kept, each of which is JSON already. They are input of
 * the next request, so logprobs are left out: no model reads them, and they are many times as long
 * as their text.
 */
export function encodeKeptOutput(items: readonly string[]): string {
  return `[${items.map(leaveLogprobs).join(',')}]`;
}

function leaveLogprobs(item: string): string {
  if (!LOGPROBS.test(item)) return item;
  return JSON.stringify(JSON.parse(item), (name, value) => (name === 'logprobs' ? [] : value));
}
