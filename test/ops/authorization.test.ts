import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { startTestOps, type TestOps } from './start-test-ops.ts';

const FAILURES_MAX = 10;

let redis: TestRedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const ask = (ops: TestOps, authorization?: string, path = '/admin/v1/accounts') =>
  fetch(`${ops.url}${path}`, { ...(authorization && { headers: { authorization } }) });

/** Sends a request from an address of the loopback network. */
async function askFrom(address: string, ops: TestOps, token: string): Promise<number> {
  const sent = request(`${ops.url}/admin/v1/accounts`, {
    localAddress: address,
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

describe('the admin API', () => {
  it('is closed to those without the token, also where there is nothing', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const token = ops.token.reveal();
    for (const authorization of [
      undefined,
      'Bearer',
      `Bearer ${token}x`,
      `Bearer ${token.slice(1)}`,
      `Basic ${token}`,
      token,
    ]) {
      const response = await ask(ops, authorization);
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
    }
    expect((await ask(ops, undefined, '/admin/v1/nothing')).status).toBe(401);
    expect((await ask(ops, `Bearer ${token}`)).status).toBe(200);
    expect((await ask(ops, `bearer  ${token} `)).status).toBe(200);
  });

  it('lets an address with too many wrong tokens wait, but never the right one', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const right = `Bearer ${ops.token.reveal()}`;
    for (let i = 0; i < FAILURES_MAX; i++) expect((await ask(ops, 'Bearer x')).status).toBe(401);
    const response = await ask(ops, 'Bearer x');
    expect(response.status).toBe(429);
    expect(response.headers.get('connection')).toBe('close');
    const seconds = Number(response.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(await response.json()).toMatchObject({ error: { code: 'too_many_failures' } });
    expect((await ask(ops, right)).status).toBe(200);
    expect((await ask(ops, 'Bearer x')).status).toBe(429);
    expect((await ask(ops, undefined, '/livez')).status).toBe(200);
  });

  it('counts no request without a token, whatever its method', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    for (let i = 0; i < 2 * FAILURES_MAX; i++) {
      for (const method of ['GET', 'OPTIONS', 'POST']) {
        const { status } = await fetch(`${ops.url}/admin/v1/accounts`, { method });
        expect(status).toBe(401);
      }
    }
    expect((await ask(ops, 'Bearer x')).status).toBe(401);
    expect((await ask(ops, `Bearer ${ops.token.reveal()}`)).status).toBe(200);
  });

  it('lets nobody else wait for wrong tokens', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    for (let i = 0; i <= FAILURES_MAX; i++) await askFrom('127.0.0.2', ops, 'x');
    expect(await askFrom('127.0.0.2', ops, 'y')).toBe(429);
    expect(await askFrom('127.0.0.3', ops, 'y')).toBe(401);
  });

  it('counts wrong tokens that arrive together', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const statuses = await Promise.all(
      Array.from({ length: 40 }, async () => (await ask(ops, 'Bearer x')).status),
    );
    expect(statuses.filter((status) => status === 401)).toHaveLength(FAILURES_MAX);
    expect(statuses.filter((status) => status === 429)).toHaveLength(40 - FAILURES_MAX);
  });

  it('does not mind any number of right ones', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    for (let i = 0; i < 2 * FAILURES_MAX; i++) {
      expect((await ask(ops, `Bearer ${ops.token.reveal()}`)).status).toBe(200);
    }
  });

  it('refuses a change by somebody who was revoked while its body was on the way', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const { body } = await ops.call('POST', '/operators', { name: 'Ada', role: 'operator' });
    const wanted = JSON.stringify({ name: 'successor', role: 'operator' });
    const sent = request(`${ops.url}/admin/v1/operators`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${body['token']}`,
        'content-type': 'application/json',
        'content-length': wanted.length,
        expect: '100-continue',
      },
    });
    sent.flushHeaders();
    // The token has been looked up before Redis learns that it is revoked.
    await once(sent, 'continue');
    expect((await ops.call('POST', `/operators/${body['id']}/revoke`)).status).toBe(200);
    sent.end(wanted);
    const [response] = await once(sent, 'response');
    response.resume();
    expect(response.statusCode).toBe(401);
    const { data } = (await ops.call('GET', '/operators')).body as { data: { name: string }[] };
    expect(data.map(({ name }) => name)).not.toContain('successor');
  });
});
