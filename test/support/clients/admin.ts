import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Gateway } from '../servers/start-gateway.ts';
import { waitUntil, waitUntilCalled } from '../wait-until.ts';

export interface AccountShown {
  readonly id: string;
  readonly balance: number;
  readonly held: number;
}

interface KeyShown {
  readonly id: string;
  readonly spent_this_month: number;
  readonly held: number;
  readonly status: string;
  readonly rotated_at: string | null;
}

/** What an operator does, through the node's own admin API. */
export function admin(gateway: Gateway) {
  const call = async <Answer>(method: string, path: string, body?: object): Promise<Answer> => {
    const token = readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
    const response = await fetch(`${gateway.opsUrl}/admin/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        // A test that blocks for long would use a connection again that the node has closed.
        connection: 'close',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as Answer;
  };
  const self = {
    call,
    async createAccount({ plan = 'team', credits = 1_000 } = {}): Promise<string> {
      const { id } = await call<AccountShown>('POST', '/accounts', { name: 'test', plan });
      if (credits > 0) {
        await call('POST', `/accounts/${id}/credits`, { amount: credits, id: 'first', note: '' });
      }
      return id;
    },
    createKey: (account: string, controls: object = {}) =>
      call<{ id: string; key: string }>('POST', `/accounts/${account}/keys`, controls),
    account: (id: string) => call<AccountShown>('GET', `/accounts/${id}`),
    key: (id: string) => call<KeyShown>('GET', `/keys/${id}`),
    setKey: (id: string, controls: object) => call('PATCH', `/keys/${id}`, controls),
    revoke: (id: string) => call('POST', `/keys/${id}/revoke`, {}),
    rotate: (id: string, overlapSeconds: number) =>
      call<{ key: string }>('POST', `/keys/${id}/rotate`, { overlap_seconds: overlapSeconds }),
    /** Waits until every admitted request is settled or swept. */
    waitUntilSettled: (account: string, timeoutMs?: number) =>
      waitUntil(async () => (await self.account(account)).held === 0, 'nothing is held', timeoutMs),
    /** Waits until everything that was settled before this call is in the books. */
    async waitForBooks(): Promise<void> {
      const calledMs = Date.now();
      const isIn = async () => {
        const { books_until: until } = await call<{ books_until: string | null }>('GET', '/books');
        return until !== null && Date.parse(until) >= calledMs;
      };
      await waitUntilCalled(isIn, 'the books are up to date');
    },
  };
  return self;
}
