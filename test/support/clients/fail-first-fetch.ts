/** A `fetch` for client libraries whose first request asks the simulated upstream for a 429; the others go as they are. */
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
