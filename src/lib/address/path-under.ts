/**
 * The path of a request to an upstream. The whole address of the upstream is the base, and its
 * query goes with all requests. An address without a path means the version that most upstreams
 * have.
 */
export function pathUnder(url: string, path: string): string {
  const { pathname, search } = new URL(url);
  const base = pathname.replace(/\/+$/, '') || '/v1';
  return `${base}${path}${search}`;
}
