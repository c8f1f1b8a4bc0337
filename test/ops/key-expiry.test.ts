import { afterAll, beforeAll, expect, it } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
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
const CONTROLS = { rpm: 60, expires_at: '2040-01-01T00:00:00.000Z' };
const agoMs = (ms: number) => new Date(Date.now() - ms).toISOString();

async function createAccount(): Promise<string> {
  const { body } = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
  return String(body['id']);
}

async function createKey(account: string): Promise<string> {
  const { status, body } = await ops.call('POST', `/accounts/${account}/keys`, CONTROLS);
  expect(status).toBe(201);
  return String(body['id']);
}

it.each([
  ['long ago', '2020-01-01T00:00:00Z'],
  ['a moment ago', agoMs(1)],
])('a key does not end in the past: %s', async (_, expires_at) => {
  const account = await createAccount();
  const id = await createKey(account);
  for (const refused of [
    await ops.call('POST', `/accounts/${account}/keys`, { expires_at }),
    await ops.call('PATCH', `/keys/${id}`, { expires_at, rpm: 3 }),
  ]) {
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({
      code: 'invalid_request',
      message: 'expires_at: must be in the future; to end a key at once, revoke it',
    });
  }
  expect((await ops.call('GET', `/keys/${id}`)).body).toMatchObject(CONTROLS);
});

it('a key that has ended says so, until it gets another time or is revoked', async () => {
  const account = await createAccount();
  const id = await createKey(account);
  const end = () => ops.directory.patchKey(id, { expiresMs: Date.parse(agoMs(1)) });
  await end();
  expect((await ops.call('GET', `/keys/${id}`)).body).toMatchObject({ status: 'expired' });
  expect((await ops.call('GET', `/accounts/${account}/keys`)).body).toMatchObject({
    data: [{ id, status: 'expired' }],
  });
  const later = await ops.call('PATCH', `/keys/${id}`, { expires_at: CONTROLS.expires_at });
  expect(later.body).toMatchObject({ status: 'active' });
  await end();
  const revoked = await ops.call('POST', `/keys/${id}/revoke`);
  expect(revoked.body).toMatchObject({ status: 'revoked' });
});
