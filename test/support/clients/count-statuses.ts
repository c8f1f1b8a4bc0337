/** A `fetch` for client libraries that records the status of every answer. */
export function countStatuses(statuses: number[]): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    statuses.push(response.status);
    return response;
  };
}
