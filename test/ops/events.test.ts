import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { closeConnections } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startTestOps, type TestOps } from './start-test-ops.ts';

const SUBSCRIBERS_MAX = 20;

let redis: TestRedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** Resolves with the head. The rest is read only when a test reads it. */
async function subscribe(ops: TestOps, token = ops.token.reveal()): Promise<IncomingMessage> {
  const sent = get(`${ops.url}/admin/v1/events`, {
    agent: false,
    headers: { authorization: `Bearer ${token}` },
  });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  onTestFinished(() => {
    response.destroy();
  });
  return response;
}

function collect(response: IncomingMessage): () => string {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  return () => text;
}

/** Counts the events of each type. The events are too long to be kept. */
function count(response: IncomingMessage): (type: string) => number {
  const counts = new Map<string, number>();
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('event: ')) counts.set(line, (counts.get(line) ?? 0) + 1);
    }
  });
  return (type) => counts.get(`event: ${type}`) ?? 0;
}

describe('the events of the admin API', () => {
  it('tell every listener of changes as they happen, without secrets', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const responses = [await subscribe(ops), await subscribe(ops)];
    const texts = responses.map(collect);
    for (const { statusCode, headers } of responses) {
      expect([statusCode, headers['content-type']]).toEqual([200, 'text/event-stream']);
    }
    const account = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
    const id = String(account.body['id']);
    const key = await ops.call('POST', `/accounts/${id}/keys`, {});
    for (const text of texts) {
      await waitUntil(() => text().includes('key.create'), 'both changes are told');
      const [created] = text().matchAll(/^event: change\ndata: (.*)\n\n/gm);
      expect(JSON.parse(created?.[1] ?? '')).toMatchObject({
        ...{ what: 'account.create', account: id, who: { via: 'api' } },
      });
      expect(text()).not.toContain(String(key.body['key']).slice(18, 50));
    }
  });

  it('are closed to those without the token', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    expect((await subscribe(ops, 'wrong')).statusCode).toBe(401);
    expect(ops.events.hasSubscribers()).toBe(false);
  });

  it('have a bounded number of listeners; one who leaves makes room', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const responses: IncomingMessage[] = [];
    for (let i = 0; i < SUBSCRIBERS_MAX; i++) responses.push(await subscribe(ops));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(Array(20).fill(200));
    const refused = await subscribe(ops);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
    responses[0]?.destroy();
    await waitUntil(async () => (await subscribe(ops)).statusCode === 200, 'there is room');
  });

  it('have no more than half of their listeners of one operator', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const operator = await ops.call('POST', '/operators', { name: 'Ada', role: 'viewer' });
    const statuses: unknown[] = [];
    for (let i = 0; i < 11; i++) {
      statuses.push((await subscribe(ops, String(operator.body['token']))).statusCode);
    }
    expect(statuses).toEqual([...Array(10).fill(200), 503]);
    expect((await subscribe(ops)).statusCode).toBe(200);
  });

  it('are dropped for one who does not read, who is told so, and for nobody else', async () => {
    const ops = await startTestOps(redis, onTestFinished);
    const slow = await subscribe(ops);
    const quick = count(await subscribe(ops));
    const data = { filler: 'x'.repeat(64_000) };
    const EVENTS = 400;
    for (let i = 1; i <= EVENTS; i++) {
      ops.events.publish({ type: 'upstream', node: 'one', data });
      await waitUntil(() => quick('upstream') === i, 'the quick one has it');
    }
    const heard = count(slow);
    await waitUntil(() => {
      ops.events.publish({ type: 'summary', node: null, data: {} });
      return heard('summary') > 0;
    }, 'the slow one hears of it again');
    expect(heard('missed')).toBeGreaterThan(0);
    expect(heard('upstream')).toBeLessThan(EVENTS);
    expect([quick('upstream'), quick('missed')]).toEqual([EVENTS, 0]);
  });
});
