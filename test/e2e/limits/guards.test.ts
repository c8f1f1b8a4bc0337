import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { mintApiKey, parseApiKey } from '../../../src/keys/api-key.ts';
import { admin } from '../../support/clients/admin.ts';
import {
  type Answered,
  askModel,
  askUntilAnswered,
  messageOf,
  openStream,
} from '../../support/clients/ask-model.ts';
import { inventKey } from '../../support/clients/invent-key.ts';
import { proxyHeader } from '../../support/clients/proxy-header.ts';
import { openRawConnection } from '../../support/clients/raw-connection.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

describe('keys that do not exist', () => {
  const gateway = useGateway({
    config: `${FAST_CONFIG}guards: {trusted_proxies: 1, failed_keys_per_minute: 5}\n`,
  });

  const tryKey = async (key: string, address: string) => {
    const response = await fetch(`${gateway().url}/v1/models`, {
      headers: { 'x-api-key': key, 'x-forwarded-for': address },
    });
    await response.arrayBuffer();
    return response;
  };

  it('are tried out slowly only, at one address', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) statuses.push((await tryKey(inventKey(), '192.0.2.7')).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
    const refused = await tryKey(inventKey(), '192.0.2.7');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await tryKey(inventKey(), '192.0.2.8')).status).toBe(401);
  });

  it('count for the address of their connection, whatever the PROXY protocol says', async () => {
    const tryFrom = async (claimed: string, key: string) => {
      const connection = await openRawConnection(gateway().port, '127.0.0.7');
      const request = `GET /v1/models HTTP/1.1\r\nHost: a\r\nx-api-key: ${key}\r\n\r\n`;
      connection.send(Buffer.from(proxyHeader(claimed) + request, 'latin1'));
      await connection.waitFor(/^HTTP\/1\.1 \d{3} /);
      connection.destroy();
      return connection.received().slice(0, 'HTTP/1.1 200'.length);
    };
    const answers: string[] = [];
    for (let i = 0; i < 7; i++) answers.push(await tryFrom(`203.0.113.${i}`, inventKey()));
    expect(answers.map((line) => line.split(' ')[1]).join()).toBe('401,401,401,401,401,429,429');
  });

  it('do not lock out a client whose key was good a moment ago', async () => {
    expect((await tryKey(gateway().key(), '192.0.2.9')).status).toBe(200);
    // At an address of good keys, the store is asked for 20 times as many.
    for (let i = 0; i < 100; i++) await tryKey(inventKey(), '192.0.2.9');
    expect((await tryKey(inventKey(), '192.0.2.9')).status).toBe(429);
    expect((await tryKey(gateway().key(), '192.0.2.9')).status).toBe(200);
  });

  it.each(['/v1/messages', '/v1/chat/completions', '/v1/responses', '/v1/messages/count_tokens'])(
    'are refused before a large body is read on %s, and a good one is not',
    async (path) => {
      const body = '{'.repeat(70_000);
      const post = async (key: string) =>
        (
          await fetch(`${gateway().url}${path}`, {
            ...{ method: 'POST', body },
            headers: {
              ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
              'x-forwarded-for': '192.0.2.10',
            },
          })
        ).status;
      expect(await post(inventKey())).toBe(401);
      expect(await post(gateway().key())).toBe(400);
    },
  );

  it.each([
    ['of another family', 'sk-ant-api03-abcdefgh'],
    ['with a typing error', 'sk-gw2-3E56Bu5AeBG7d95j0ESeegQruo8XBrwNWwm3lYb8LnJ1DakuX'],
    ['a login token', 'sk-ant-oat01-abcdefghijklmnop'],
  ])('get one and the same answer: %s', async (_, key) => {
    const answer = async (tried: string) => {
      const { status, body } = await askModel(gateway().url, tried, messageOf('Hi'));
      return { status, error: body.error };
    };
    expect(await answer(key)).toEqual({
      status: 401,
      error: { type: 'authentication_error', message: 'invalid x-api-key' },
    });
  });
});

describe('calls that cost nothing', () => {
  const gateway = useGateway({ config: `${FAST_CONFIG}guards: {free_calls_per_minute: 3}\n` });

  async function createKey() {
    const operator = admin(gateway());
    return (await operator.createKey(await operator.createAccount())).key;
  }
  const ask = async (key: string) =>
    (await fetch(`${gateway().url}/v1/models`, { headers: { 'x-api-key': key } })).status;

  it('are bounded for each key', async () => {
    const key = await createKey();
    const statuses: number[] = [];
    for (let i = 0; i < 5; i++) statuses.push(await ask(key));
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    // These calls do not count towards the limit of requests that cost something.
    expect((await askModel(gateway().url, key, messageOf('Hi'))).status).toBe(200);
  });

  it('are left to the owner of a key when others use them up under its id', async () => {
    const key = await createKey();
    const { keyId = '' } = parseApiKey(key) ?? {};
    for (let i = 0; i < 5; i++) expect(await ask(mintApiKey(keyId, randomBytes))).toBe(401);
    expect(await ask(key)).toBe(200);
  });
});

describe('while Redis is out', () => {
  const costOf = ({ body: { usage } }: Answered) =>
    ((usage?.input_tokens ?? NaN) + 5 * (usage?.output_tokens ?? NaN)) / 1e6;

  async function startAndFreeze(settings: string) {
    const redis = await startRedisServer({ args: ['--appendonly', 'yes'] });
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const gateway = await startGateway({ config: `${FAST_CONFIG}${settings}`, env });
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: 1 });
    const { key, id } = await operator.createKey(account);
    expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(200);
    await operator.waitUntilSettled(account);
    const { balance } = await operator.account(account);
    redis.signal('SIGSTOP');
    return { redis, gateway, operator, account, key, id, balance };
  }

  it('nobody is admitted, and nothing is charged', async () => {
    const { redis, gateway, operator, account, key, balance } = await startAndFreeze('');
    const refused = await askModel(gateway.url, key, messageOf('Hi'));
    expect(refused.status).toBe(503);
    expect(refused.body.error).toMatchObject({ type: 'api_error' });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    redis.signal('SIGCONT');
    const served = await askUntilAnswered(gateway.url, key, messageOf('Hi'));
    expect(served.status).toBe(200);
    // The refused request may have left a hold behind, which costs nothing when it ends.
    await operator.waitUntilSettled(account);
    const after = (await operator.account(account)).balance;
    expect(balance - after).toBeCloseTo(costOf(served), 9);
  });

  it('a key that was good a moment ago goes on where the settings insure it, and is charged later', async () => {
    const insured = 'guards: {insurance_per_minute: 2}\n';
    const { redis, gateway, operator, account, key, balance } = await startAndFreeze(insured);
    const answers: Answered[] = [];
    for (let i = 0; i < 3; i++) {
      answers.push(await askModel(gateway.url, key, messageOf('[[tokens 50]]')));
    }
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 503]);
    const insuredCost = answers.slice(0, 2).reduce((sum, answer) => sum + costOf(answer), 0);
    const other = await operator.call('GET', '/accounts').catch((error: Error) => error.message);
    expect(other).toContain('503');
    redis.signal('SIGCONT');
    const readSpent = async () =>
      balance - (await operator.account(account).catch(() => ({ balance }))).balance;
    await waitUntil(async () => (await readSpent()) > insuredCost - 1e-9, 'both are charged');
    // What is charged for one more comes behind whatever else those three might be charged.
    const last = await askUntilAnswered(gateway.url, key, messageOf('Hi'));
    expect(last.status).toBe(200);
    await operator.waitUntilSettled(account);
    expect(await readSpent()).toBeCloseTo(insuredCost + costOf(last), 9);
  });

  it.each([
    ['a revoked key', 'has been revoked'],
    ['a suspended account', 'suspended'],
  ])('an insured stream of %s is stopped when Redis is back', async (shut, why) => {
    const insured = 'guards: {insurance_per_minute: 2}\n';
    const { redis, gateway, operator, account, key, id } = await startAndFreeze(insured);
    const endless = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway.url, key, endless);
    await waitUntil(() => stream.text().includes('content_block_delta'), 'it says something');
    redis.signal('SIGCONT');
    const shutIt = () =>
      shut === 'a revoked key'
        ? operator.revoke(id)
        : operator.call('PATCH', `/accounts/${account}`, { status: 'suspended' });
    await waitUntil(
      () =>
        shutIt().then(
          () => true,
          () => false,
        ),
      'Redis takes it',
    );
    await waitUntil(() => stream.text().includes('event: error'), 'it is stopped');
    await stream.ended;
    expect(stream.text()).toContain(why);
  });
});
