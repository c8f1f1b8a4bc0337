import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MIGRATIONS } from '../../src/books/engine/migrations.ts';
import {
  booksAnswer,
  ledgerLineAnswer,
  refusalsAnswer,
  requestsAnswer,
} from '../../src/ops/schemas/books-schemas.ts';
import { makeEntry } from '../books/books-scene.ts';
import { enter } from '../books/questions/questions-scene.ts';
import { closeConnections } from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();
let ops: TestOps;

beforeAll(async () => {
  ops = await startTestOps(await startRedisServer(), cleanUp);
});
describe('the routes of the books', () => {
  it('list requests page by page, tell a receipt and stream the ledger', async () => {
    const account = String(
      (await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' })).body['id'],
    );
    const rows = [1, 2, 3].map((seq) =>
      makeEntry({
        ...{ account, seq, charged: seq * 500_000, total_ms: seq },
        ...{ status: 200 + seq * 100, outcome: 'failed' },
      }),
    );
    await enter(ops.books, rows);
    const list = async (query: string) => {
      const { status, body } = await ops.call('GET', `/requests?${query}`);
      expect(status, JSON.stringify(body)).toBe(200);
      return requestsAnswer.parse(body);
    };
    const first = await list(`account=${account}&limit=2`);
    expect(first.data.map(({ charged }) => charged)).toEqual([1.5, 1]);
    const second = await list(`account=${account}&limit=2&before=${first.next}`);
    expect(second).toMatchObject({ data: [{ charged: 0.5 }], next: null });
    expect((await list('charged_min=1&charged_max=1.2')).data).toMatchObject([{ charged: 1 }]);
    expect((await list('status=5xx&duration_min=3')).data).toMatchObject([{ status: 500 }]);
    expect((await list('from=2026-11-21')).data).toEqual([]);

    const { request } = rows[0] ?? { request: '' };
    const receipt = await ops.call('GET', `/requests/${request}`);
    expect(receipt).toMatchObject({ status: 200, body: { charged: 0.5, account } });
    const missing = await ops.call('GET', '/requests/req_x');
    expect([missing.status, errorOf(missing).code]).toEqual([404, 'request_not_found']);

    const { token, url } = ops;
    const answer = await fetch(`${url}/admin/v1/ledger?account=${account}`, {
      headers: { authorization: `Bearer ${token.reveal()}` },
    });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const lines = (await answer.text()).trim().split('\n');
    const entries = lines.map((line) => ledgerLineAnswer.parse(JSON.parse(line)));
    expect(entries).toMatchObject([5e5, 1e6, 1.5e6].map((charged_micros) => ({ charged_micros })));
  });

  it('count refusals and tell the state of the books', async () => {
    const refusals = await ops.call('GET', '/refusals?by=day');
    expect(refusalsAnswer.parse(refusals.body)).toMatchObject({ by: 'day', total: 0 });
    const state = await ops.call('GET', '/books');
    const schema = MIGRATIONS.length;
    expect(booksAnswer.parse(state.body)).toMatchObject({ engine: 'libsql', schema });
  });

  it('say what is wrong with a query', async () => {
    const problem = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
    for (const [path, code, text] of [
      ['/requests?limit=0', 'invalid_request', 'limit: must be a whole number from 1 to 1000'],
      ['/requests?limit=1e9', 'invalid_request', 'limit'],
      ['/requests?status=6xx', 'invalid_request', 'status: must be a status such as 429'],
      ['/requests?status=40', 'invalid_request', 'or a class such as 4xx'],
      ['/requests?outcome=good', 'invalid_request', 'outcome: must be one of complete, failed'],
      ['/requests?kind=', 'invalid_request', 'kind: must be one of charge'],
      ['/requests?from=yesterday', 'invalid_request', 'from: must be a time such as'],
      ['/requests?charged_min=-1', 'invalid_request', 'charged_min: must be credits of 0 or more'],
      ['/requests?charged_min=1e3', 'invalid_request', 'charged_min'],
      [
        '/requests?charged_max=9999999999',
        'invalid_request',
        'charged_max: must be at most 4000000000 credits',
      ],
      ['/requests?duration_max=', 'invalid_request', 'duration_max: must be a whole number of'],
      ['/requests?duration_min=5&duration_max=4', 'invalid_request', 'not be less than'],
      ['/requests?from=2026-11-21&to=2026-11-20', 'invalid_request', 'to: must not be less'],
      ['/requests?model=%00', 'invalid_request', 'model: must be text of 1 to 200 characters'],
      ['/requests?upstream=', 'invalid_request', 'upstream'],
      [`/requests?model=${'x'.repeat(201)}`, 'invalid_request', 'model'],
      ['/requests?color=red', 'invalid_request', 'color: there is no such field'],
      ['/requests?before=x', 'invalid_cursor', 'before'],
      ['/requests?before=a1.0.1', 'invalid_cursor', 'before'],
      ['/audit?before=r1.0.1', 'invalid_cursor', 'before'],
      ['/audit?account=%00', 'invalid_request', 'account: must be text of 1 to 200 characters'],
      ['/audit?key=%00', 'invalid_request', 'key: must be text of 1 to 200 characters'],
      ['/audit?from=soon', 'invalid_request', 'from: must be a time such as'],
      ['/audit?from=2026-11-21&to=2026-11-20', 'invalid_request', 'to: must not be less'],
      ['/audit?limit=0', 'invalid_request', 'limit: must be a whole number from 1 to 1000'],
      ['/limit-events?account=%00', 'invalid_request', 'account: must be text of 1 to 200'],
      ['/limit-events?type=x', 'invalid_request', 'type: must be one of'],
      ['/limit-events?limit=0', 'invalid_request', 'limit: must be a whole number from 1 to 1000'],
      ['/accounts?search=a&after=x', 'invalid_cursor', 'after'],
      ['/refusals?by=moon', 'invalid_request', 'by: must be one of refusal, account'],
      ['/ledger?to=soon', 'invalid_request', 'to: must be a time such as'],
      ['/books?a=b', 'invalid_request', 'a: there is no such field'],
    ] as const) {
      const { status, body } = await ops.call('GET', path);
      const { error } = problem.parse(body);
      expect([status, error.code], path).toEqual([400, code]);
      expect(error.message, path).toContain(text);
    }
  });

  it('refuse an account or a key that there is not', async () => {
    for (const path of ['/requests', '/ledger', '/refusals']) {
      const account = await ops.call('GET', `${path}?account=acct_none`);
      expect([account.status, errorOf(account).code], path).toEqual([404, 'account_not_found']);
      const key = await ops.call('GET', `${path}?key=key_none`);
      expect([key.status, errorOf(key).code], path).toEqual([404, 'key_not_found']);
    }
  });

  it('answer about a key that is in the books alone', async () => {
    const key = 'key_forgotten000';
    const account = String(
      (await ops.call('POST', '/accounts', { name: 'Old', plan: 'pro' })).body['id'],
    );
    const named = { key, account, name: 'old', last4: 'wxyz', status: 'revoked' };
    await ops.books.db.insertInto('key_names').values(named).execute();
    await enter(ops.books, [makeEntry({ account, key, seq: 9, charged: 500_000 })]);
    const requests = await ops.call('GET', `/requests?key=${key}`);
    expect(requests).toMatchObject({ status: 200, body: { data: [{ key, charged: 0.5 }] } });
    const usage = await ops.call('GET', `/usage?by=key&key=${key}`);
    expect(usage).toMatchObject({ status: 200, body: { data: [{ key, charged: 0.5 }] } });
    expect((await ops.call('GET', `/refusals?key=${key}`)).status).toBe(200);
    const ledger = await fetch(`${ops.url}/admin/v1/ledger?key=${key}`, {
      headers: { authorization: `Bearer ${ops.token.reveal()}` },
    });
    expect(ledger.status).toBe(200);
    expect((await ledger.text()).trim().split('\n')).toHaveLength(1);
  });

  it('end the work when the client leaves', async () => {
    const { listRequests } = ops.admin.books;
    let signalOf: AbortSignal | undefined;
    Object.assign(ops.admin.books, {
      listRequests: (_: unknown, signal: AbortSignal) => {
        signalOf = signal;
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason)),
        );
      },
    });
    const leaving = new AbortController();
    const asking = fetch(`${ops.url}/admin/v1/requests`, {
      headers: { authorization: `Bearer ${ops.token.reveal()}` },
      signal: leaving.signal,
    });
    await waitUntil(() => signalOf !== undefined, 'the question is asked');
    leaving.abort();
    await expect(asking).rejects.toThrow();
    await waitUntil(() => signalOf?.aborted === true, 'the work has ended');
    Object.assign(ops.admin.books, { listRequests });
    expect(ops.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
