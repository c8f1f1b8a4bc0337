/**
 * Where a request to an upstream goes: its address is the whole base, with a query for all requests. One without a
 * path means the version that most upstreams have.
 */
export function pathUnder(url: string, path: string): string {
  const { pathname, search } = new URL(url);
  const base = pathname.replace(/\/+$/, '') || '/v1';
  return `${base}${path}${search}`;
}
