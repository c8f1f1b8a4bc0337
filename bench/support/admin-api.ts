/**
 * The admin API of one node, as far as a scenario needs it. Rejects every answer without a 2xx
 * status.
 */
export type CallAdmin = <Answer>(method: string, path: string, body?: object) => Promise<Answer>;

export function createAdminApi(opsUrl: string, token: string): CallAdmin {
  return async <Answer>(method: string, path: string, body?: object) => {
    const response = await fetch(`${opsUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    }
    return (await response.json()) as Answer;
  };
}
