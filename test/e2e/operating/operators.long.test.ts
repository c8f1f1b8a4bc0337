import { afterAll, beforeAll, expect, it } from 'vitest';
import { ROLES, type Role, rolesWithin } from '../../../src/lib/role.ts';
import { defineAdminRoute } from '../../../src/ops/routes/admin-route.ts';
import { admin } from '../../support/clients/admin.ts';
import { waitForMembers } from '../../support/clients/read-cluster.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

interface NewOperator {
  readonly id: string;
  readonly token: string;
}

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let started: Nodes;
beforeAll(async () => {
  started = await startNodes({ cleanUp });
});
const create = (role: Role, name = `a ${role}`) =>
  admin(started.nodes[0]).call<NewOperator>('POST', '/operators', { name, role });

/** Asks as far as the head of the answer. */
async function ask(gateway: Gateway, token: string, route = 'GET /operators/me', body = {}) {
  const [method = '', path = ''] = route.split(' ');
  const leaving = new AbortController();
  const response = await fetch(`${gateway.opsUrl}/admin/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    signal: leaving.signal,
    ...(method !== 'GET' && { body: JSON.stringify(body) }),
  });
  const isJson = response.headers.get('content-type') === 'application/json';
  const answer = isJson ? ((await response.json()) as Record<string, unknown>) : undefined;
  leaving.abort();
  return { status: response.status, body: answer, code: codeOf(answer) };
}

/** Reads events, and tells how much has come, and whether they are over. */
async function listen(gateway: Gateway, bearer: string) {
  const headers = { authorization: `Bearer ${bearer}` };
  const response = await fetch(`${gateway.opsUrl}/admin/v1/events`, { headers });
  expect(response.status).toBe(200);
  const reading = { bytes: 0, isOver: false };
  const read = async () => {
    for await (const bytes of response.body ?? []) reading.bytes += bytes.length;
  };
  void read()
    .catch(() => {})
    .finally(() => {
      reading.isOver = true;
    });
  return reading;
}

function codeOf(body: unknown): string | undefined {
  return (body as { error?: { code?: string } } | undefined)?.error?.code;
}

it('a route must say which role it needs', () => {
  const route = { method: 'GET', path: '/x', summary: 's', answer: '*/*' } as const;
  const handle = async () => ({ status: 200, body: {} }) as const;
  // @ts-expect-error without a role it does not compile
  defineAdminRoute({ ...route, handle });
});

it('every route is open to the roles it names, and closed to those below and to strangers', async () => {
  const [node] = started.nodes;
  const document = (await (await fetch(`${node.opsUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { readonly 'x-tollgate-role': Role }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    path.startsWith('/admin/v1/')
      ? Object.entries(methods).map(([method, operation]) => ({
          route: `${method.toUpperCase()} ${path.slice('/admin/v1'.length)}`,
          needs: operation['x-tollgate-role'],
        }))
      : [],
  );
  expect(routes.length).toBeGreaterThan(25);
  for (const role of ROLES) {
    const { token } = await create(role);
    for (const { route, needs } of routes) {
      // What is open is refused for its body.
      const { status, code } = await ask(node, token, route, { nothing: 1 });
      const isOpen = rolesWithin(role).includes(needs);
      expect([route, role, status === 403], code).toEqual([route, role, !isOpen]);
      expect(status, route).not.toBe(401);
      if (!isOpen) expect(code).toBe('role_too_low');
    }
  }
  for (const { route } of routes) {
    expect([route, (await ask(node, `tgo_${'x'.repeat(43)}`, route)).status]).toEqual([
      route,
      expect.toSatisfy((status: number) => status === 401 || status === 429),
    ]);
  }
  expect(routes.filter(({ needs }) => needs === 'billing').map(({ route }) => route)).toEqual([
    'POST /accounts',
    'PATCH /accounts/{id}',
    'POST /accounts/{id}/credits',
  ]);
  const isChange = ({ route }: { readonly route: string }) => !route.startsWith('GET ');
  expect(routes.filter(isChange).filter(({ needs }) => needs === 'viewer')).toEqual([]);
});

it('a token tells who asks, and the audit log names the person, in Redis and in the books', async () => {
  const [node, other] = started.nodes;
  const { id, token } = await create('billing', 'Ada');
  expect(await ask(other, token)).toMatchObject({
    status: 200,
    body: { id, name: 'Ada', role: 'billing', may: ['viewer', 'billing'], by: 'operator_token' },
  });
  const { body } = await ask(other, token, 'POST /accounts', { name: 'Acme', plan: 'pro' });
  const account = String(body?.['id']);
  const readWho = async () => {
    const audit = await admin(node).call<{ data: { who: unknown; what: string }[] }>(
      'GET',
      `/audit?account=${account}`,
    );
    return audit.data[0]?.who;
  };
  const who = { via: 'api', operator: { id, name: 'Ada' }, token: expect.any(String) };
  await waitUntil(async () => (await readWho()) !== undefined, 'the change is listed');
  expect(await readWho()).toMatchObject(who);
  await admin(node).waitForBooks();
  expect(await readWho()).toMatchObject(who);
});

it('Redis has no token', async () => {
  const [node] = started.nodes;
  const { token } = await create('viewer', 'Bob');
  await ask(node, token);
  const kept = await Promise.all(
    ['operators', 'tokens', 'revoked', 'used'].map((name) =>
      started.redis.cli('hgetall', `gw:{o}:${name}`),
    ),
  );
  expect(kept.join()).toContain('Bob');
  expect(kept.join()).not.toContain(token);
});

it('a token that was revoked on one node is refused on all, at once and for good', async () => {
  const [node, other] = started.nodes;
  const { id, token } = await create('operator', 'Eve');
  for (const each of [node, other, other]) expect((await ask(each, token)).status).toBe(200);
  const revoked = await admin(node).call<{ status: string }>('POST', `/operators/${id}/revoke`);
  expect(revoked.status).toBe('revoked');
  // Wrong tokens of another test may make it wait.
  expect([401, 429]).toContain((await ask(node, token)).status);
  await waitUntil(async () => (await ask(other, token)).status !== 200, 'the other node heard');
  const again = await admin(node).call('POST', `/operators/${id}/revoke`);
  expect(again).toEqual(revoked);
  const { data } = await admin(other).call<{ data: { id: string; used_at: string | null }[] }>(
    'GET',
    '/operators',
  );
  expect(data.find((each) => each.id === id)).toMatchObject({
    status: 'revoked',
    used_at: expect.any(String),
  });
  await expect(admin(node).call('POST', '/operators/op_none/revoke')).rejects.toThrow('404');
});

it('without Redis the admin token still shows the node, and every other token gets 503 and no events', async () => {
  const { nodes, redis } = await startNodes();
  const [node] = nodes;
  const { token } = await admin(node).call<NewOperator>('POST', '/operators', {
    ...{ name: 'Ada', role: 'operator' },
  });
  expect((await ask(node, token)).status).toBe(200);
  const events = await listen(node, token);
  redis.signal('SIGKILL');
  await waitUntil(async () => (await ask(node, token)).status !== 200, 'the outage is noticed');
  for (let i = 0; i < 3; i++) {
    expect(await ask(node, token)).toMatchObject({ status: 503, code: 'store_unavailable' });
  }
  await waitUntil(() => events.isOver, 'nobody can tell whether the events may go on');
  await admin(node).call('GET', '/cluster');
  await admin(node).call('GET', '/operators/me');
});

it('events, and all that goes on for long, break off on every node when their reader is revoked', async () => {
  const [node] = started.nodes;
  const { id, token } = await create('viewer', 'Mallory');
  const { token: another } = await create('viewer', 'Ada');
  const read = await Promise.all(started.nodes.map((each) => listen(each, token)));
  const stays = await Promise.all(started.nodes.map((each) => listen(each, another)));
  await admin(node).call('POST', `/operators/${id}/revoke`);
  await waitUntil(() => read.every(({ isOver }) => isOver), 'the streams are over');
  const before = stays.map(({ bytes }) => bytes);
  await create('viewer', 'Zoe');
  await waitUntil(
    () => stays.every(({ bytes }, index) => bytes > (before[index] ?? 0)),
    'the others hear what happens next',
  );
  expect(stays.map(({ isOver }) => isOver)).toEqual(stays.map(() => false));
});

it('the audit log names the person who reloads nodes and changes the catalogue', async () => {
  const { nodes } = await startNodes({ settings: 'catalogue: store\n', workers: 1 });
  const [node, other] = nodes;
  const { id, token } = await admin(node).call<NewOperator>('POST', '/operators', {
    ...{ name: 'Ada', role: 'operator' },
  });
  await waitForMembers(node, (shown) => shown.length === 2, 'the nodes know each other');
  const { body } = await ask(node, token, 'GET /catalogue');
  const catalogue = { ...(body?.['catalogue'] as object), plans: { starter: 7 } };
  const changed = await ask(other, token, 'PUT /catalogue', { base_version: 1, catalogue });
  expect([changed.status, changed.body]).toMatchObject([200, { version: 2 }]);
  await ask(node, token, 'POST /catalogue/rollback', { base_version: 2, version: 1 });
  const reloaded = await ask(node, token, 'POST /cluster/reload');
  const done = expect.objectContaining({ status: 'reloaded' });
  expect(reloaded.body).toEqual({ nodes: [done, done] });
  await ask(node, token, 'POST /reload');
  const readWho = async (what: string) => {
    const { data } = await admin(node).call<{ data: { what: string; who: object }[] }>(
      ...(['GET', '/audit'] as const),
    );
    return data.filter((entry) => entry.what === what).map(({ who }) => who);
  };
  const who = { via: 'api', operator: { id, name: 'Ada' } };
  await waitUntil(async () => (await readWho('node.reload')).length === 3, 'each node says so');
  for (const what of ['catalogue.apply', 'catalogue.rollback', 'node.reload']) {
    for (const each of await readWho(what)) expect(each, what).toMatchObject(who);
    expect(await readWho(what), what).not.toEqual([]);
  }
});

it('no log line has a token', async () => {
  for (const node of started.nodes) {
    node.signal('SIGTERM');
    expect(await node.waitForExit()).toBe(0);
    expect(node.stderr()).toContain('worker listens');
    expect(node.stderr()).not.toContain('tgo_');
  }
});
