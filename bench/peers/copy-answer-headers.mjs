/**
 * Import this before a gateway: it makes the headers of `fetch` answers mutable. Without it Portkey
 * answers every stream with 500 on Node 20.
 */
const { fetch, Response, Headers } = globalThis;

globalThis.fetch = async (...args) => {
  const { body, status, statusText, headers } = await fetch(...args);
  return new Response(body, { status, statusText, headers: new Headers(headers) });
};
