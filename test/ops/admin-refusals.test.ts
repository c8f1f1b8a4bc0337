import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

const BODY_BYTES_MAX = 65_536;
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();

let redis: TestRedisServer;
let ops: TestOps;
let account: string;
let key: string;

beforeAll(async () => {
  redis = await startRedisServer();
  ops = await startTestOps(redis, cleanUp);
  account = String((await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' })).body['id']);
  key = String((await ops.call('POST', `/accounts/${account}/keys`, {})).body['id']);
});
/** Sends a body unchanged. */
function post(path: string, body: string | Uint8Array, type = 'application/json') {
  return fetch(`${ops.url}/admin/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ops.token.reveal()}`, 'content-type': type },
    body,
  });
}

describe('the admin API refuses', () => {
  it('what is not there with 404', async () => {
    for (const [method, path, code] of [
      ['GET', '/nothing', 'unknown_path'],
      ['GET', '/accounts/', 'account_not_found'],
      ['GET', `/accounts/${account}/`, 'unknown_path'],
      ['GET', `/accounts/${account}/nothing`, 'unknown_path'],
      ['GET', '/accounts/acct_000000000000', 'account_not_found'],
      ['PATCH', '/accounts/acct_000000000000', 'account_not_found'],
      ['GET', '/accounts/%20', 'account_not_found'],
      ['GET', '/accounts/acct_000000000000/keys', 'account_not_found'],
      ['POST', '/accounts/acct_000000000000/keys', 'account_not_found'],
      ['GET', '/keys/00000000000', 'key_not_found'],
      ['PATCH', '/keys/00000000000', 'key_not_found'],
      ['POST', '/keys/00000000000/rotate', 'key_not_found'],
      ['POST', '/keys/nonsense/revoke', 'key_not_found'],
    ] as const) {
      const body = method === 'GET' ? undefined : {};
      const answer = await ops.call(method, path, body);
      expect([answer.status, errorOf(answer).code], `${method} ${path}`).toEqual([404, code]);
    }
    const payment = { amount: 1, id: 'p' };
    const answer = await ops.call('POST', '/accounts/acct_000000000000/credits', payment);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'account_not_found']);
  });

  it('other methods with 405, and says which there are', async () => {
    for (const [method, path, allow] of [
      ['DELETE', '/accounts', 'GET, POST'],
      ['PUT', `/accounts/${account}`, 'GET, PATCH'],
      ['GET', `/accounts/${account}/credits`, 'POST'],
      ['DELETE', `/keys/${key}`, 'GET, PATCH'],
      ['GET', `/keys/${key}/revoke`, 'POST'],
    ] as const) {
      const answer = await ops.call(method, path);
      expect(answer.status, path).toBe(405);
      expect(answer.headers.get('allow'), path).toBe(allow);
      expect(errorOf(answer).code).toBe('method_not_allowed');
    }
  });

  it('a body that is too long with 413, and takes one that is not', async () => {
    const fill = (bytes: number) => {
      const rest = JSON.stringify({ name: 'Acme', plan: 'pro' });
      return rest + ' '.repeat(bytes - rest.length);
    };
    expect((await post('/accounts', fill(BODY_BYTES_MAX))).status).toBe(201);
    for (const bytes of [BODY_BYTES_MAX + 1, 1_000_000, 8 * 1024 ** 2]) {
      const response = await post('/accounts', fill(bytes));
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { code: 'body_too_large' } });
    }
  });

  it('what is not JSON with 415 or 400', async () => {
    const body = JSON.stringify({ name: 'Acme', plan: 'pro' });
    expect((await post('/accounts', body, 'text/plain')).status).toBe(415);
    expect((await post('/accounts', body, 'application/json; charset=utf-8')).status).toBe(201);
    for (const bytes of ['{', 'nothing', Uint8Array.of(0x22, 0xff, 0x22)]) {
      const response = await post('/accounts', bytes);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_json' } });
    }
  });

  it('fields that are wrong with 400, and names all of them', async () => {
    for (const [method, path, body, message] of [
      ['POST', '/accounts', [], 'the body must be a JSON object'],
      [
        'POST',
        '/accounts',
        { plan: 'gold', balance: 5 },
        'name: must be text of 1 to 100 characters, without control characters; plan: must be one of starter, pro, business, team; balance: there is no such field',
      ],
      [
        'PATCH',
        `/accounts/${account}`,
        { name: 'a\nb', status: 'gone', balance: 5, held: 1 },
        'name: must be text of 1 to 100 characters, without control characters; status: must be one of active, suspended; balance: there is no such field; held: there is no such field',
      ],
      [
        'POST',
        `/accounts/${account}/credits`,
        { amount: 0.0000001, id: '' },
        'amount: must be credits other than 0, with at most 6 decimals; id: must be text of 1 to 100 characters, without control characters',
      ],
      [
        'POST',
        `/accounts/${account}/credits`,
        { amount: 0, id: 'p', note: 5 },
        'amount: must be credits other than 0, with at most 6 decimals; note: must be text of at most 500 characters, without control characters',
      ],
      [
        'PATCH',
        `/keys/${key}`,
        { rpm: 0, models: [], monthly_cap: -1, concurrency: 1.5, expires_at: 'soon', name: '' },
        'name: must be text of 1 to 100 characters, without control characters; rpm: must be a whole number from 1 to 1000000; models: must be a list of 1 to 100 models, or null for all; monthly_cap: must be credits of 0 or more, with at most 6 decimals; concurrency: must be a whole number from 1 to 100000; expires_at: must be a time such as 2027-01-31T00:00:00Z',
      ],
      [
        'PATCH',
        `/keys/${key}`,
        { models: ['opus', 'x,y', 5], status: 'active', spent: 0 },
        'models.1: x,y is no model of this gateway; models.2: must be the id or alias of a model; status: there is no such field; spent: there is no such field',
      ],
      [
        'POST',
        `/keys/${key}/rotate`,
        { overlap_seconds: 2_592_001 },
        'overlap_seconds: must be a whole number from 0 to 2592000',
      ],
      ['POST', `/keys/${key}/revoke`, { sure: true }, 'sure: there is no such field'],
    ] as const) {
      const answer = await ops.call(method, path, body);
      expect(answer.status, path).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', message });
    }
    expect((await ops.call('GET', `/accounts/${account}`)).body).toMatchObject({
      ...{ name: 'Acme', status: 'active', balance: 0 },
    });
  });

  it('a rotation with 409 if there was another that its caller does not know', async () => {
    const { body } = await ops.call('POST', `/accounts/${account}/keys`, {});
    const rotate = (base: unknown) =>
      ops.call('POST', `/keys/${body['id']}/rotate`, { base_rotated_at: base });
    const first = await rotate(null);
    const refused = await rotate(null);
    expect([refused.status, errorOf(refused).code]).toEqual([409, 'key_rotated']);
    expect(errorOf(refused).message).toContain(`meanwhile, at ${first.body['rotated_at']}`);
    expect(await ops.directory.check(String(body['key']))).toBe('known');
    expect((await rotate(first.body['rotated_at'])).status).toBe(200);
    expect(await ops.directory.check(String(body['key']))).toBe('unknown');
    expect(await ops.directory.check(String(first.body['key']))).toBe('known');
  });

  it('pages that nobody can turn with 400', async () => {
    const limits = [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=1.5',
      'limit=1e2',
      'limit=1&limit=2',
    ];
    for (const query of [...limits, 'after=x', 'page=2']) {
      expect((await ops.call('GET', `/accounts?${query}`)).status, query).toBe(400);
    }
  });

  it('everything that asks Redis with 503 while it is out, and nothing afterwards', async () => {
    const other = await startRedisServer();
    const away = await startTestOps(other, onTestFinished);
    other.signal('SIGSTOP');
    const paths = [
      ...['/accounts', `/accounts/${account}`, `/accounts/${account}/keys`],
      ...[`/accounts/${account}/limits`, `/accounts/${account}/groups`, `/keys/${key}`],
      ...[`/keys/${key}/limits`, '/limit-events', '/webhooks', '/operators'],
      ...['/groups/grp_000000000000', '/groups/grp_000000000000/limits', '/catalogue/history'],
      ...['/catalogue/versions/1', '/catalogue/diff?from=1&to=2'],
    ];
    await Promise.all(
      paths.map(async (path) => {
        const answer = await away.call('GET', path);
        const told = [answer.status, errorOf(answer).code, answer.headers.get('retry-after')];
        expect(told, path).toEqual([503, 'store_unavailable', '2']);
      }),
    );
    expect(away.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    other.signal('SIGCONT');
    await waitUntil(
      async () => (await away.call('GET', '/accounts')).status === 200,
      'it answers again',
    );
  });

  it('with 500 what nobody expected, tells the log why, and goes on', async () => {
    const [record = ''] = (await redis.cli('keys', `gw:*:account:${account}`)).split('\n');
    await redis.cli('rename', record, 'kept');
    await redis.cli('set', record, 'no hash');
    const answer = await ops.call('GET', `/accounts/${account}`);
    expect([answer.status, errorOf(answer).code]).toEqual([500, 'internal_error']);
    expect(errorOf(answer).message).not.toContain('WRONGTYPE');
    const line = ops.log.lines.find(({ level }) => level === 'error');
    expect(String(line?.fields['err'])).toContain('WRONGTYPE');
    await redis.cli('rename', 'kept', record);
    expect((await ops.call('GET', `/accounts/${account}`)).status).toBe(200);
  });
});

describe('the listener for operators', () => {
  it('answers without a token where nothing can be changed', async () => {
    const livez = await fetch(`${ops.url}/livez`);
    expect([livez.status, await livez.json()]).toEqual([200, { status: 'ok', version: '1.2.3' }]);
    expect((await fetch(`${ops.url}/readyz`)).status).toBe(200);
    ops.readiness = 'unavailable';
    const unready = await fetch(`${ops.url}/readyz`);
    expect([unready.status, await unready.json()]).toEqual([503, { status: 'unavailable' }]);
    ops.readiness = 'ok';
    const document = (await (await fetch(`${ops.url}/openapi.json`)).json()) as object;
    expect(document).toMatchObject({ openapi: '3.1.0' });
    const head = await fetch(`${ops.url}/livez`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('refuses other paths and methods in the words of the admin API', async () => {
    for (const path of ['/nothing', '/admin', '/admin/v1', '/constructor']) {
      const response = await fetch(`${ops.url}${path}`);
      expect(response.status, path).toBe(404);
      expect(await response.json()).toMatchObject({ error: { code: 'unknown_path' } });
    }
    const response = await fetch(`${ops.url}/livez`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('says at / that the dashboard has not been built', async () => {
    const response = await fetch(`${ops.url}/`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      ...[404, 'text/plain; charset=utf-8'],
    ]);
    expect(await response.text()).toContain('npm run build');
  });

  it('says which setting is wrong when it cannot listen', async () => {
    const { startOpsServer } = await import('../../src/ops/start-ops-server.ts');
    const { log } = ops;
    const second = startOpsServer({
      endpoint: { kind: 'tcp', host: '127.0.0.1', port: ops.port },
      version: '1.2.3',
      readiness: () => 'ok',
      collectMetrics: async () => ({ contentType: 'text/plain', text: '' }),
      dashboardDir: ops.dataDir,
      docsDir: ops.dataDir,
      admin: ops.admin,
      log,
    });
    await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${ops.port} (ops.listen)`);
  });
});
