import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { readTold } from '../../support/clients/ask-gateway.ts';
import {
  askModel,
  messageOf,
  type OpenStream,
  openStream,
  openStreamUntilAnswered,
} from '../../support/clients/ask-model.ts';
import { readRecentEntries } from '../../support/ledger/read-entries.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** The price in credits of a haiku request with this usage. */
function costOf(usage: { input_tokens: number; output_tokens: number } | undefined): number {
  if (usage === undefined) throw new Error('the answer has no usage');
  return (usage.input_tokens * 1 + usage.output_tokens * 5) / 1e6;
}

/** In micro-credits, by the usage that a stream told. */
async function costOfStream(stream: OpenStream): Promise<number> {
  const headers = { 'content-type': 'text/event-stream' };
  const {
    isComplete,
    inputTokens = 0,
    outputTokens = 0,
  } = await readTold(
    { format: 'native', isStream: true },
    new Response(stream.text(), { headers }),
  );
  expect(isComplete).toBe(true);
  return Math.round(costOf({ input_tokens: inputTokens, output_tokens: outputTokens }) * 1e6);
}

/** Expects one charge for each stream, by what it told, and none beside them. */
async function expectChargedOnce(port: number, account: string, streams: readonly OpenStream[]) {
  const store = openConnection(standalone(tcp(port)));
  await waitForRedis(store);
  const entries = [...(await readRecentEntries({ store, account })).values()];
  const charges = entries.filter(({ charged }) => charged > 0);
  const told = streams.map(async (stream) => `${stream.requestId} ${await costOfStream(stream)}`);
  expect(charges.map(({ request, charged }) => `${request} ${charged}`).sort()).toEqual(
    (await Promise.all(told)).sort(),
  );
}

describe('a request is charged', () => {
  const gateway = useGateway({ config: FAST_CONFIG });

  async function createCaller() {
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 10 });
    const { id, key } = await operator.createKey(account);
    return {
      key,
      async spent() {
        await operator.waitUntilSettled(account);
        const { balance } = await operator.account(account);
        const spent = (await operator.key(id)).spent_this_month;
        expect(balance + spent).toBeCloseTo(10, 9);
        return spent;
      },
    };
  }

  it('what its usage says, to the micro-credit, and is sent in a header', async () => {
    const { key, spent } = await createCaller();
    const { body, headers } = await askModel(gateway().url, key, messageOf('[[tokens 17]]'));
    const cost = costOf(body.usage);
    expect(Number(headers.get('x-tollgate-credits-charged'))).toBeCloseTo(cost, 9);
    expect(await spent()).toBeCloseTo(cost, 9);
  });

  it('the same as a stream', async () => {
    const { key, spent } = await createCaller();
    const whole = await askModel(gateway().url, key, messageOf('[[tokens 17]]'));
    const stream = await openStream(gateway().url, key, messageOf('[[tokens 17]]'));
    await stream.ended;
    expect(await spent()).toBeCloseTo(2 * costOf(whole.body.usage), 9);
  });

  it.each([400, 429, 500, 503, 529])(
    'nothing when its upstream refuses with %i',
    async (status) => {
      const { key, spent } = await createCaller();
      const body = messageOf(`[[error ${status}]]`);
      expect((await askModel(gateway().url, key, body)).status).toBe(status);
      await (await openStream(gateway().url, key, body)).ended;
      expect(await spent()).toBe(0);
    },
  );

  it('what was delivered when its upstream fails in the middle of a stream', async () => {
    const { key, spent } = await createCaller();
    const body = messageOf('[[tokens 90]] [[error 500 after 40]]');
    const stream = await openStream(gateway().url, key, body);
    await stream.ended;
    expect(stream.text()).toContain('event: error');
    const whole = await askModel(gateway().url, key, messageOf('[[tokens 90]]'));
    const partial = (await spent()) - costOf(whole.body.usage);
    expect(partial).toBeGreaterThan(0);
    expect(partial).toBeLessThan(costOf(whole.body.usage));
  });

  it('nothing when its upstream fails in the middle of an answer that is not delivered', async () => {
    const { key, spent } = await createCaller();
    const body = messageOf('[[tokens 90]] [[error 500 after 40]]');
    expect((await askModel(gateway().url, key, body)).status).toBe(500);
    expect(await spent()).toBe(0);
  });

  it('what it had by then when its client leaves', async () => {
    const { key, spent } = await createCaller();
    const body = messageOf('[[tokens 8000]] [[slow 10]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway().url, key, body);
    await waitUntil(() => stream.text().split('content_block_delta').length > 20, 'it says much');
    stream.leave();
    const charged = await spent();
    expect(charged).toBeGreaterThan(0);
    expect(charged).toBeLessThan((8_000 * 5) / 1e6 / 4);
  });

  it('nothing when it is refused before it is admitted', async () => {
    const { key, spent } = await createCaller();
    expect((await askModel(gateway().url, key, { model: 'haiku' })).status).toBe(400);
    expect((await askModel(gateway().url, key, messageOf('Hi', { model: 'no' }))).status).toBe(404);
    expect(await spent()).toBe(0);
  });
});

describe('a hold', () => {
  it('whose worker was killed is given back when its lease runs out', async () => {
    const gateway = await startGateway({ config: FAST_CONFIG });
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: 10 });
    const { key } = await operator.createKey(account);
    const body = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway.url, key, body);
    await waitUntil(() => stream.text().includes('content_block_delta'), 'it says something');
    process.kill(gateway.workerPids()[0] ?? 0, 'SIGKILL');
    expect((await operator.account(account)).held).toBeGreaterThan(0);
    await stream.ended;
    // No cost was noted by then, so the request is free.
    await operator.waitUntilSettled(account);
    expect((await operator.account(account)).balance).toBe(10);
  });
});

describe('a settlement that the store cannot take', () => {
  const STREAMS = 10;

  async function startWithFrozenStore() {
    const redis = await startRedisServer({ args: ['--appendonly', 'yes'] });
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const gateway = await startGateway({ config: FAST_CONFIG, env });
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: 10 });
    const { id, key } = await operator.createKey(account);
    const streams = await Promise.all(
      Array.from({ length: STREAMS }, () =>
        openStreamUntilAnswered(gateway.url, key, messageOf('[[tokens 100]] [[slow 60]]')),
      ),
    );
    redis.signal('SIGSTOP');
    await Promise.all(streams.map(({ ended }) => ended));
    for (const stream of streams) expect(stream.text()).toContain('message_stop');
    return { redis, env, gateway, operator, account, id, streams };
  }

  /** Every record contains the id of its request as text. */
  const countJournalled = (dataDir: string) => {
    const dir = join(dataDir, 'journal');
    if (!existsSync(dir)) return 0;
    const texts = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'latin1'));
    return new Set(texts.join('').match(/req_[0-9A-Za-z]{24}/g)).size;
  };

  it('is carried out when the store is back', async () => {
    const { redis, operator, account, id, streams } = await startWithFrozenStore();
    redis.signal('SIGCONT');
    await operator.waitUntilSettled(account);
    await expectChargedOnce(redis.port, account, streams);
    const spent = (await operator.key(id)).spent_this_month;
    expect((await operator.account(account)).balance).toBeCloseTo(10 - spent, 9);
  });

  it('survives the death of the whole node in the journal, and is carried out by the next', async () => {
    const { redis, env, gateway, account, streams } = await startWithFrozenStore();
    await waitUntil(() => countJournalled(gateway.dataDir) === STREAMS, 'the journal has them all');
    for (const pid of [gateway.pid, ...gateway.workerPids()]) process.kill(pid, 'SIGKILL');
    redis.signal('SIGCONT');
    const next = await startGateway({ config: FAST_CONFIG, env, dataDir: gateway.dataDir });
    await admin(next).waitUntilSettled(account);
    await expectChargedOnce(redis.port, account, streams);
  });
});

describe('a node that ends', () => {
  it('has charged everything that it served', async () => {
    const redis = await startRedisServer({ args: ['--appendonly', 'yes'] });
    const env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    const gateway = await startGateway({ config: FAST_CONFIG, env });
    const account = await admin(gateway).createAccount({ credits: 10 });
    const { key } = await admin(gateway).createKey(account);
    const streams = await Promise.all(
      Array.from({ length: 50 }, () =>
        openStreamUntilAnswered(gateway.url, key, messageOf('[[tokens 100]] [[slow 10]]')),
      ),
    );
    gateway.signal('SIGTERM');
    await Promise.all(streams.map(({ ended }) => ended));
    expect(await gateway.waitForExit(), gateway.stderr()).toBe(0);
    await expectChargedOnce(redis.port, account, streams);
    const record = (await redis.cli('--scan', '--pattern', `*account:${account}`)).split('\n')[0];
    const [held, balance] = (await redis.cli('HMGET', record ?? '', 'held', 'balance')).split('\n');
    const costs = await Promise.all(streams.map(costOfStream));
    expect(Number(held)).toBe(0);
    expect(Number(balance)).toBe(10e6 - costs.reduce((sum, cost) => sum + cost, 0));
  });
});
