import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
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

const gateway = useGateway({ config: FAST_CONFIG });

describe('a request is charged', () => {
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
    const operator = admin(gateway());
    const account = await operator.createAccount({ credits: 10 });
    const { key } = await operator.createKey(account);
    const body = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway().url, key, body);
    await waitUntil(() => stream.text().includes('content_block_delta'), 'it says something');
    process.kill(gateway().workerPids()[0] ?? 0, 'SIGKILL');
    expect((await operator.account(account)).held).toBeGreaterThan(0);
    await stream.ended;
    const path = `/requests/${stream.requestId}`;
    // On a machine that is not busy, no cost was noted by then, so the request is free.
    const { seen = 0 } = await operator.call<{ seen?: number }>('GET', path);
    await operator.waitUntilSettled(account);
    expect((await operator.account(account)).balance).toBeCloseTo(10 - seen, 9);
  });
});

describe('a settlement', () => {
  const STREAMS = 10;
  const cleanUp = useCleanUp();
  let redis: TestRedisServer;
  let env: { readonly TOLLGATE_REDIS_URL: string };
  let node: Gateway;
  beforeAll(async () => {
    redis = await startRedisServer({ args: ['--appendonly', 'yes'] });
    env = { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` };
    node = await startGateway({ config: FAST_CONFIG, env, cleanUp });
  });

  async function openStreams(count: number, text: string) {
    const operator = admin(node);
    const account = await operator.createAccount({ credits: 10 });
    const { id, key } = await operator.createKey(account);
    const streams = await Promise.all(
      Array.from({ length: count }, () => openStreamUntilAnswered(node.url, key, messageOf(text))),
    );
    return { operator, account, id, streams };
  }

  /** Streams that end while the store is frozen. */
  async function endWithoutStore() {
    const opened = await openStreams(STREAMS, '[[tokens 100]] [[slow 60]]');
    redis.signal('SIGSTOP');
    await Promise.all(opened.streams.map(({ ended }) => ended));
    for (const stream of opened.streams) expect(stream.text()).toContain('message_stop');
    return opened;
  }

  /** Every record contains the id of its request as text. */
  function isJournalled({ requestId }: OpenStream): boolean {
    const dir = join(node.dataDir, 'journal');
    return (
      existsSync(dir) &&
      readdirSync(dir).some((name) =>
        readFileSync(join(dir, name), 'latin1').includes(requestId ?? 'no id'),
      )
    );
  }

  it('that the store cannot take is carried out when it is back', async () => {
    const { operator, account, id, streams } = await endWithoutStore();
    redis.signal('SIGCONT');
    await operator.waitUntilSettled(account);
    await expectChargedOnce(redis.port, account, streams);
    const spent = (await operator.key(id)).spent_this_month;
    expect((await operator.account(account)).balance).toBeCloseTo(10 - spent, 9);
  });

  it('survives the death of the whole node in the journal, and is carried out by the next', async () => {
    const { account, streams } = await endWithoutStore();
    await waitUntil(() => streams.every(isJournalled), 'the journal has them all');
    for (const pid of [node.pid, ...node.workerPids()]) process.kill(pid, 'SIGKILL');
    redis.signal('SIGCONT');
    const { dataDir } = node;
    node = await startGateway({ config: FAST_CONFIG, env, dataDir, cleanUp });
    await admin(node).waitUntilSettled(account);
    await expectChargedOnce(redis.port, account, streams);
  });

  it('of all that a node served is carried out before it ends', async () => {
    const { account, streams } = await openStreams(50, '[[tokens 100]] [[slow 10]]');
    node.signal('SIGTERM');
    await Promise.all(streams.map(({ ended }) => ended));
    expect(await node.waitForExit(), node.stderr()).toBe(0);
    await expectChargedOnce(redis.port, account, streams);
    const record = (await redis.cli('--scan', '--pattern', `*account:${account}`)).split('\n')[0];
    const [held, balance] = (await redis.cli('HMGET', record ?? '', 'held', 'balance')).split('\n');
    const costs = await Promise.all(streams.map(costOfStream));
    expect(Number(held)).toBe(0);
    expect(Number(balance)).toBe(10e6 - costs.reduce((sum, cost) => sum + cost, 0));
  });
});
