import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import {
  askPrice,
  createKey,
  FAST,
  operate,
  SLOW,
  settingsOf,
  startDurableRedis,
  startOn,
  withOutput,
} from '../../support/clients/catalogue-scene.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import {
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const TWO_WORKERS = settingsOf([FAST, SLOW], { workers: 2 });
const cleanUp = useCleanUp();
let redis: TestRedisServer;
let one: Gateway;
let two: Gateway;

beforeAll(async () => {
  redis = await startDurableRedis();
  one = await startOn(redis, TWO_WORKERS, cleanUp);
  two = await startOn(redis, TWO_WORKERS, cleanUp);
});
afterAll(stopRedisServers);

describe('a catalogue in Redis', () => {
  it('begins with the settings, and reaches all workers of all nodes without replacing them', async () => {
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
    const { version, catalogue } = await operate(one).read();
    const results = await Promise.allSettled([
      operate(one).put(version, withOutput(catalogue, 4)),
      operate(two).put(version, withOutput(catalogue, 5)),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(String(results.find((each) => each.status === 'rejected')?.reason)).toMatch(
      /409 .*catalogue_changed/,
    );
    const both = [await operate(one).read(), await operate(two).read()];
    expect(both[0]?.catalogue).toEqual(both[1]?.catalogue);
  });

  it('charges every request on three nodes by the version that its receipt names', async () => {
    const nodes = [one, two, await startOn(redis)];
    const operator = operate(one);
    const { account, key } = await createKey(operator);
    const { version: firstVersion, catalogue } = await operator.read();
    const firstPrice = catalogue.models[0]?.price['output'] ?? 0;
    const versions = Array.from({ length: 6 }, (_, index) => firstVersion + index);
    const priceOf = (version: number) => (version === firstVersion ? firstPrice : version * 10);
    const ids: string[] = [];
    const charges = new Set<number>();
    const isUsed = (version: number) => charges.has((50 * priceOf(version)) / 1e6);
    let isOver = false;
    const load = nodes.flatMap((node) =>
      Array.from({ length: 3 }, async () => {
        while (!isOver) {
          const { status, headers } = await askModel(node.url, key, messageOf('[[tokens 50]]'));
          expect(status).toBe(200);
          ids.push(headers.get('request-id') ?? '');
          charges.add(Number(headers.get('x-tollgate-credits-charged')));
        }
      }),
    );
    await waitUntil(() => isUsed(firstVersion), 'the first version is used');
    for (const version of versions.slice(1)) {
      const before = ids.length;
      await operator.put(version - 1, withOutput(catalogue, priceOf(version)));
      await waitUntil(() => isUsed(version) && ids.length > before + 30, 'requests go on');
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
    expect([...seen].sort()).toEqual(versions);
  });

  it('is refused whole, with every mistake, and changes nothing', async () => {
    const operator = operate(one);
    const { version, catalogue } = await operator.read();
    const [model] = catalogue.models;
    const circle = [
      { ...model, aliases: ['other'] },
      { ...model, id: 'other', aliases: [HAIKU] },
    ];
    await expect(operator.put(version, { ...catalogue, models: circle })).rejects.toThrow(
      /invalid_catalogue.*is already used as an id or alias/,
    );
    const lost = [{ ...model, routes: [{ upstream: 'nowhere' }] }];
    await expect(operator.put(version, { ...catalogue, models: lost })).rejects.toThrow(
      /models\[0\]\.routes\[0\]\.upstream: no upstream has the name/,
    );
    const routes = Array.from({ length: 60 }, (_, i) => ({ upstream: `${'x'.repeat(100)}${i}` }));
    const huge = Array.from({ length: 250 }, (_, i) => ({ ...model, id: `m-${i}`, routes }));
    await expect(operator.put(version, { ...catalogue, models: huge })).rejects.toThrow(/413/);
    await expect(operator.put(version, { models: [] })).rejects.toThrow(/400/);
    expect((await operator.read()).version).toBe(version);
  });

  it('charges a stream by the version that it began with', async () => {
    const operator = operate(one);
    const { account, key } = await createKey(operator);
    const { version, catalogue } = await operator.read();
    const slow = withOutput(catalogue, 6).models.slice(0, 1);
    await operator.put(version, {
      ...catalogue,
      models: slow.map((model) => ({ ...model, routes: [{ upstream: 'slow' }] })),
    });
    await operator.untilSold(version + 1);
    const stream = await openStream(one.url, key, messageOf('[[tokens 60]]'));
    await waitUntil(() => stream.text().includes('content_block_delta'), 'the stream has begun');
    const gone = { id: 'other', max_output_tokens: 10, price: { input: 9, output: 9 } };
    await operator.put(version + 1, { ...catalogue, models: [gone] });
    await stream.ended;
    expect(stream.text()).toContain('message_stop');
    await operator.waitUntilSettled(account);
    const receipt = await operator.receiptOf(stream.requestId);
    expect(receipt).toMatchObject({ catalogue_version: version + 1, price: { output: 6 } });
    expect(receipt.charged).toBeCloseTo((receipt.usage.output * 6) / 1_000_000, 9);
  });

  it('keeps its last 50 versions, and none before them', async () => {
    const operator = operate(one);
    const { version: begin, catalogue } = await operator.read();
    const last = Math.max(begin + 1, 52);
    for (let version = begin + 1; version <= last; version += 1) {
      await operator.put(version - 1, withOutput(catalogue, version));
    }
    const history = await operator.call<{ data: { version: number }[] }>(
      ...(['GET', '/catalogue/history'] as const),
    );
    const kept = Array.from({ length: 50 }, (_, index) => last - index);
    expect(history.data.map(({ version }) => version)).toEqual(kept);
    const show = (version: number) => operator.call('GET', `/catalogue/versions/${version}`);
    expect(await show(last - 49)).toMatchObject({ version: last - 49 });
    await expect(show(last - 50)).rejects.toThrow(/404/);
    await expect(operator.rollBack(last, last - 50)).rejects.toThrow(/404/);
  });
});
