import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { type Gateway, launchGateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

interface ModelDocument {
  readonly id: string;
  readonly price: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
}

interface Document {
  readonly plans: Readonly<Record<string, number>>;
  readonly models: readonly ModelDocument[];
}

interface Shown {
  readonly version: number;
  readonly sold_version: number;
  readonly refused: { readonly version: number; readonly problems: readonly string[] } | null;
  readonly catalogue: Document;
}

interface Changed {
  readonly version: number;
  readonly changes: readonly { field: string; before: unknown; after: unknown }[];
}

interface Receipt {
  readonly charged: number;
  readonly catalogue_version: number;
  readonly usage: { readonly input: number; readonly output: number };
  readonly price: { readonly input: number; readonly output: number };
}

const FAST = '{name: fast, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}';
const SLOW = '{name: slow, kind: simulated, simulated: {tokens_per_second: 50, latency: 1ms}}';

const settingsOf = (upstreams: readonly string[], output = 1) => `
workers: 2
catalogue: store
plans: {starter: 60, pro: 1000000, team: 1000000}
upstreams: [${upstreams.join(', ')}]
models:
  - {id: ${HAIKU}, max_output_tokens: 8000, price: {input: 0, output: ${output}}, routes: [{upstream: fast}]}
`;
const SETTINGS = settingsOf([FAST, SLOW]);

async function startRedis(): Promise<TestRedisServer> {
  return startRedisServer({ args: ['--appendonly', 'yes', '--appendfsync', 'always'] });
}

const startOn = (redis: TestRedisServer, config = SETTINGS, dataDir?: string) =>
  startGateway({
    config,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    ...(dataDir !== undefined && { dataDir }),
  });

/** The same document with other prices for the output of the first model. */
function withOutput({ plans, models: [first, ...others] }: Document, output: number): Document {
  if (first === undefined) throw new Error('there is a model');
  return { plans, models: [{ ...first, price: { ...first.price, output } }, ...others] };
}

function operate(gateway: Gateway) {
  const operator = admin(gateway);
  const read = () => operator.call<Shown>('GET', '/catalogue');
  return {
    ...operator,
    read,
    put: (base: number, catalogue: object, more: object = {}) =>
      operator.call<Changed>('PUT', '/catalogue', { base_version: base, catalogue, ...more }),
    rollBack: (base: number, version: number) =>
      operator.call<Changed>('POST', '/catalogue/rollback', { base_version: base, version }),
    untilSold: (version: number) =>
      waitUntil(async () => (await read()).sold_version === version, `version ${version} is sold`),
    receiptOf: (id: string | null) => operator.call<Receipt>('GET', `/requests/${id}`),
  };
}

const createKey = async (operator: ReturnType<typeof operate>) => {
  const account = await operator.createAccount();
  return { account, ...(await operator.createKey(account)) };
};

/** What a request for 100 tokens is charged. */
async function askPrice(gateway: Gateway, key: string): Promise<string | null> {
  const { headers } = await askModel(gateway.url, key, messageOf('[[tokens 100]]'));
  return headers.get('x-tollgate-credits-charged');
}

describe('a catalogue in Redis', () => {
  it('begins with the settings, and reaches all workers of all nodes without replacing them', async () => {
    const redis = await startRedis();
    const [one, two] = [await startOn(redis), await startOn(redis)];
    const [first, second] = [operate(one), operate(two)];
    const pids = [one.workerPids(), two.workerPids()];
    const { account, key } = await createKey(first);
    const { version, catalogue } = await first.read();
    expect(version).toBe(1);
    expect(await askPrice(two, key)).toBe('0.0001');

    const added = { id: 'fresh', max_output_tokens: 10, price: { input: 0, output: 1 } };
    const changed = withOutput(catalogue, 3);
    const wanted = { ...changed, models: [...changed.models, added] };
    const tried = await first.put(1, wanted, { dry_run: true });
    expect((await second.read()).version).toBe(1);
    const applied = await first.put(1, wanted);
    expect(applied.version).toBe(2);
    expect(applied.changes).toEqual(tried.changes);
    expect(applied.changes).toContainEqual({
      ...{ field: `models[${HAIKU}].price.output`, before: 1, after: 3 },
    });
    await second.untilSold(2);
    await waitUntil(async () => (await askPrice(two, key)) === '0.0003', 'the price is known');
    const answer = await askModel(one.url, key, messageOf('Hi', { model: 'fresh', max_tokens: 5 }));
    expect(answer.status).toBe(200);
    await first.waitUntilSettled(account);
    const receipt = await first.receiptOf(answer.headers.get('request-id'));
    expect(receipt.catalogue_version).toBe(2);
    expect([one.workerPids(), two.workerPids()]).toEqual(pids);

    await first.waitForBooks();
    const { data } = await first.call<{ data: Record<string, unknown>[] }>('GET', '/audit');
    expect(data).toContainEqual(
      expect.objectContaining({
        what: 'catalogue.apply',
        before: { catalogue_version: 1, [`models[${HAIKU}].price.output`]: 1 },
      }),
    );
  });

  it('takes one of two changes that were made from the same version', async () => {
    const redis = await startRedis();
    const [one, two] = [await startOn(redis), await startOn(redis)];
    const { catalogue } = await operate(one).read();
    const results = await Promise.allSettled([
      operate(one).put(1, withOutput(catalogue, 2)),
      operate(two).put(1, withOutput(catalogue, 3)),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(String(results.find((each) => each.status === 'rejected')?.reason)).toMatch(
      /409 .*catalogue_changed/,
    );
    const both = [await operate(one).read(), await operate(two).read()];
    expect(both[0]?.catalogue).toEqual(both[1]?.catalogue);
  });

  it('charges a stream by the version that it began with', async () => {
    const redis = await startRedis();
    const node = await startOn(redis);
    const operator = operate(node);
    const { account, key } = await createKey(operator);
    const { catalogue } = await operator.read();
    const slow = { ...catalogue.models[0], routes: [{ upstream: 'slow' }] };
    await operator.put(1, { ...catalogue, models: [slow] });
    const stream = await openStream(node.url, key, messageOf('[[tokens 60]]'));
    await waitUntil(() => stream.text().includes('content_block_delta'), 'the stream has begun');
    const gone = { id: 'other', max_output_tokens: 10, price: { input: 9, output: 9 } };
    await operator.put(2, { ...catalogue, models: [gone] });
    await stream.ended;
    expect(stream.text()).toContain('message_stop');
    await operator.waitUntilSettled(account);
    const receipt = await operator.receiptOf(stream.requestId);
    expect(receipt).toMatchObject({ catalogue_version: 2, price: { output: 1 } });
    expect(receipt.charged).toBeCloseTo(receipt.usage.output / 1_000_000, 9);
  });

  it('is refused whole, with every mistake, and changes nothing', async () => {
    const redis = await startRedis();
    const node = await startOn(redis);
    const operator = operate(node);
    const { catalogue } = await operator.read();
    const [model] = catalogue.models;
    const circle = [
      { ...model, aliases: ['other'] },
      { ...model, id: 'other', aliases: [HAIKU] },
    ];
    await expect(operator.put(1, { ...catalogue, models: circle })).rejects.toThrow(
      /invalid_catalogue.*is an id or an alias already/,
    );
    const lost = [{ ...model, routes: [{ upstream: 'nowhere' }] }];
    await expect(operator.put(1, { ...catalogue, models: lost })).rejects.toThrow(
      /models\[0\]\.routes\[0\]\.upstream: no upstream has the name/,
    );
    const routes = Array.from({ length: 60 }, (_, i) => ({ upstream: `${'x'.repeat(100)}${i}` }));
    const huge = Array.from({ length: 250 }, (_, i) => ({ ...model, id: `m-${i}`, routes }));
    await expect(operator.put(1, { ...catalogue, models: huge })).rejects.toThrow(/413/);
    await expect(operator.put(1, { models: [] })).rejects.toThrow(/400/);
    expect((await operator.read()).version).toBe(1);
  });

  it('changes at its time although Redis is away, and survives a restart of the node', async () => {
    const redis = await startRedis();
    const node = await startOn(redis);
    const operator = operate(node);
    const { catalogue } = await operator.read();
    await operator.put(1, withOutput(catalogue, 2));
    const from = new Date(Date.now() + 3_000).toISOString();
    await operator.put(2, withOutput(catalogue, 7), { from });
    await expect(operator.put(3, withOutput(catalogue, 8))).rejects.toThrow(/catalogue_pending/);
    expect(await operator.read()).toMatchObject({ version: 3, sold_version: 2 });
    redis.signal('SIGSTOP');
    await node.waitForLog(/"version":3,"msg":"another version of the catalogue holds"/);
    redis.signal('SIGCONT');
    await operator.untilSold(3);

    node.signal('SIGTERM');
    await node.waitForExit();
    redis.signal('SIGSTOP');
    const again = await launchGateway({
      config: SETTINGS,
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      dataDir: node.dataDir,
    });
    await again.waitForListening();
    redis.signal('SIGCONT');
    const reader = operate(again);
    await waitUntil(
      () =>
        reader.read().then(
          ({ sold_version: sold }) => sold === 3,
          () => false,
        ),
      'the version is sold',
    );
    const copy = JSON.parse(readFileSync(join(node.dataDir, 'catalogue.json'), 'utf8'));
    expect(copy.versions.at(-1).version).toBe(3);
  });

  it('rolls back, but not to a version whose upstream is gone', async () => {
    const redis = await startRedis();
    const node = await startOn(redis);
    const operator = operate(node);
    const { catalogue } = await operator.read();
    const slow = [{ ...catalogue.models[0], routes: [{ upstream: 'slow' }] }];
    await operator.put(1, { ...catalogue, models: slow });
    const from = new Date(Date.now() + 3_600_000).toISOString();
    await operator.put(2, withOutput(catalogue, 9), { from });
    expect((await operator.rollBack(3, 1)).version).toBe(4);
    await operator.untilSold(4);
    expect((await operator.read()).catalogue).toEqual(catalogue);

    node.setConfig(settingsOf([FAST], 4));
    await operator.call('POST', '/cluster/reload');
    await expect(operator.rollBack(4, 2)).rejects.toThrow(/no upstream has the name/);
    expect(await operator.read()).toMatchObject({ version: 4, sold_version: 4, catalogue });
  });

  it('is kept as it was by a node that cannot sell the new one, until it can', async () => {
    const redis = await startRedis();
    const [one, two] = [await startOn(redis), await startOn(redis, settingsOf([FAST]))];
    const [first, second] = [operate(one), operate(two)];
    const { key } = await createKey(first);
    const { catalogue } = await first.read();
    const slow = [{ ...withOutput(catalogue, 5).models[0], routes: [{ upstream: 'slow' }] }];
    await first.put(1, { ...catalogue, models: slow });
    await waitUntil(async () => (await second.read()).refused?.version === 2, 'it is refused');
    expect(await second.read()).toMatchObject({ version: 2, sold_version: 1 });
    expect(await askPrice(two, key)).toBe('0.0001');
    two.setConfig(SETTINGS);
    await second.call('POST', '/cluster/reload');
    await second.untilSold(2);

    one.setConfig(settingsOf([FAST]));
    one.signal('SIGHUP');
    await one.waitForLog(/version 2 of the catalogue: models\[0\]/);
    expect((await first.read()).sold_version).toBe(2);
  });

  it('is put back by a node when Redis has lost it', async () => {
    const redis = await startRedis();
    const node = await startOn(redis);
    const operator = operate(node);
    const { catalogue } = await operator.read();
    await operator.put(1, withOutput(catalogue, 2));
    await redis.cli('flushall');
    await waitUntil(
      () =>
        operator.read().then(
          ({ version }) => version === 2,
          () => false,
        ),
      'the version is back',
    );
    expect((await operator.read()).catalogue).toEqual(withOutput(catalogue, 2));
  });

  it('is shown, but not changed, where the settings file rules', async () => {
    const node = await startGateway({ config: SETTINGS.replace('catalogue: store', '') });
    const operator = operate(node);
    const { catalogue, version } = await operator.read();
    expect(version).toBeNull();
    await expect(operator.put(1, catalogue)).rejects.toThrow(/409 .*catalogue_in_file/);
    expect(existsSync(join(node.dataDir, 'catalogue.json'))).toBe(false);
  });

  it('charges every request on three nodes by the version that its receipt names', async () => {
    const redis = await startRedis();
    const nodes = [await startOn(redis), await startOn(redis), await startOn(redis)];
    const [operator] = nodes.map(operate);
    if (operator === undefined) throw new Error('there is a node');
    const { account, key } = await createKey(operator);
    const { catalogue } = await operator.read();
    const priceOf = (version: number) => (version === 1 ? 1 : version * 10);
    const ids: string[] = [];
    let isOver = false;
    const load = nodes.flatMap((node) =>
      Array.from({ length: 3 }, async () => {
        while (!isOver) {
          const { status, headers } = await askModel(node.url, key, messageOf('[[tokens 50]]'));
          expect(status).toBe(200);
          ids.push(headers.get('request-id') ?? '');
        }
      }),
    );
    for (let version = 2; version <= 6; version++) {
      const before = ids.length;
      await operator.put(version - 1, withOutput(catalogue, priceOf(version)));
      await waitUntil(() => ids.length > before + 30, 'requests go on');
    }
    isOver = true;
    await Promise.all(load);
    await operator.waitUntilSettled(account);
    const seen = new Set<number>();
    for (const id of ids) {
      const { charged, catalogue_version: version, usage, price } = await operator.receiptOf(id);
      seen.add(version);
      expect(price.output).toBe(priceOf(version));
      expect(Math.round(charged * 1e6)).toBe(usage.output * priceOf(version));
    }
    expect([...seen].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
