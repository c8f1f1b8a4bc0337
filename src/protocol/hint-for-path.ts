const MANY_SLASHES = /\/{2,}/g;
const ROUTE = /^\/v1\/(messages|chat\/completions|responses|embeddings|models)(\/|$)/;
const ROUTE_BEHIND_ROUTE =
  /^\/v1\/(?:messages|chat\/completions|responses|embeddings)(?:\/v1)?(\/(?:messages|chat\/completions|responses|embeddings|models)(?:\/.*)?)$/;

/**
 * Returns a hint for a client whose base address is slightly wrong, or that asks for a route of
 * another service.
 */
export function hintForPath(path: string): string | undefined {
  const tidy = tidySlashes(path);
  if (tidy !== path) return hintForPath(tidy) ?? hintForSlashes(tidy);
  const doubled = /^\/v1(\/v1\/.*)$/.exec(path)?.[1];
  if (doubled !== undefined) {
    return `Your client adds /v1 to its base address by itself; the path is ${doubled}.`;
  }
  const added = ROUTE_BEHIND_ROUTE.exec(path)?.[1];
  if (added !== undefined) {
    return `Your client adds ${added} to its base address by itself; the path is /v1${added}.`;
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

function tidySlashes(path: string): string {
  const single = path.replaceAll(MANY_SLASHES, '/');
  return single.length > 1 && single.endsWith('/') ? single.slice(0, -1) : single;
}

function hintForSlashes(tidy: string): string | undefined {
  if (!ROUTE.test(tidy)) return undefined;
  return `Your client's address has a slash too many; the path is ${tidy}.`;
}
