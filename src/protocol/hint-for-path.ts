/**
 * Returns a hint for a client whose base address is slightly wrong, or that asks for a route of
 * another service.
 */
export function hintForPath(path: string): string | undefined {
  const doubled = /^\/v1(\/v1\/.*)$/.exec(path)?.[1];
  if (doubled !== undefined) {
    return `Your client adds /v1 to its base address by itself; the path is ${doubled}.`;
  }
  if (/^\/(messages|chat\/completions|responses|embeddings|models)(\/|$)/.test(path)) {
    return `The base address of your client should end in /v1; the path is /v1${path}.`;
  }
  if (/^\/v1\/responses\/(.*\/)?compact(\/|$)/.test(path)) {
    return 'Send the whole conversation as `input`, or `previous_response_id`, to POST /v1/responses.';
  }
  if (/^\/v1\/(completions|conversations)(\/|$)/.test(path)) {
    return 'This gateway serves POST /v1/messages, POST /v1/chat/completions and POST /v1/responses.';
  }
  return undefined;
}
