/**
 * A `fetch` for client libraries. Its first request asks the simulated upstream for a 429; the
 * other requests pass unchanged.
 */
export function failFirstFetch(statuses: number[]): typeof fetch {
  return async (url, init) => {
    const body = String(init?.body);
    const isFirst = statuses.length === 0;
    const response = await fetch(url, {
      ...init,
      body: isFirst ? body.replace('Hello!', '[[error 429]]') : body,
    });
    statuses.push(response.status);
    return response;
  };
}
