import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyVersion } from '../../../src/catalogue-store/catalogue-records.ts';
import { askModel, HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import {
  askPrice,
  createKey,
  FAST,
  operate,
  SETTINGS,
  SLOW,
  settingsOf,
  startDurableRedis,
  startOn,
  withOutput,
} from '../../support/clients/catalogue-scene.ts';
import { isAlive } from '../../support/is-alive.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../../support/servers/redis-connection.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import {
  stopRedisServers,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Of the versions before these, a node knows none. */
const FORGOTTEN_AFTER = 12;
const ROUTES_TO_SLOW = [{ upstream: 'slow' }];

const cleanUp = useCleanUp();

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

describe('the catalogue of a node', () => {
  it('is kept as it was by a node that cannot sell the new one, until it can', async () => {
    const redis = await startDurableRedis();
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

  it('that its earlier workers cannot sell any more does not cut their streams', async () => {
    const node = await startOn(await startDurableRedis(), settingsOf([FAST], { workers: 2 }));
    const operator = operate(node);
    const earlier = node.workerPids();
    const stream = await fetch(`${node.url}/probe/stream?3000`);
    const reader = stream.body?.getReader();
    node.setConfig(settingsOf([FAST, SLOW], { workers: 2 }));
    await operator.call('POST', '/cluster/reload');
    const { catalogue } = await operator.read();
    for (let version = 1; version <= FORGOTTEN_AFTER; version += 1) {
      const slow = withOutput(catalogue, version).models[0];
      await operator.put(version, { ...catalogue, models: [{ ...slow, routes: ROUTES_TO_SLOW }] });
    }
    await operator.untilSold(FORGOTTEN_AFTER + 1);
    // What it says after the last version has been told to it.
    await operator.call('POST', '/cluster/reload');
    expect((await reader?.read())?.done).toBe(false);
    await waitUntil(
      () => earlier.filter(isAlive).length === 1,
      'only the worker with the stream is left of the earlier ones',
    );
    expect(node.stderr()).not.toMatch(/assertion failed|worker died/);
    await reader?.cancel();
  });

  it('is shown, but not changed, where the settings file rules', async () => {
    const node = await startGateway({ config: SETTINGS.replace('catalogue: store', '') });
    const operator = operate(node);
    const { catalogue, version } = await operator.read();
    expect(version).toBeNull();
    await expect(operator.put(1, catalogue)).rejects.toThrow(/409 .*catalogue_in_file/);
    expect(existsSync(join(node.dataDir, 'catalogue.json'))).toBe(false);
  });
});

describe('the catalogue of a node that has one version after another', () => {
  let redis: TestRedisServer;
  let node: Gateway;
  let operator: ReturnType<typeof operate>;

  beforeAll(async () => {
    redis = await startDurableRedis();
    node = await startOn(redis, SETTINGS, cleanUp);
    operator = operate(node);
  });

  it('leaves no entry in the audit log when a trial gets no answer from Redis', async () => {
    const { version, catalogue } = await operator.read();
    redis.signal('SIGSTOP');
    await expect(
      operator.put(version, withOutput(catalogue, 2), { dry_run: true }),
    ).rejects.toThrow(/503 .*store_unavailable/);
    redis.signal('SIGCONT');
    await waitUntil(
      () =>
        operator.createAccount().then(
          () => true,
          () => false,
        ),
      'Redis takes changes again',
    );
    await operator.waitForBooks();
    const { data } = await operator.call<{ data: { what: string }[] }>('GET', '/audit');
    expect(data.map(({ what }) => what)).toContain('account.create');
    expect(data.map(({ what }) => what)).not.toContain('catalogue.apply');
  });

  it('is found at the next look if no message told of it', async () => {
    const { version, catalogue } = await operator.read();
    const connection = openConnection(standalone(tcp(redis.port)));
    await waitForRedis(connection);
    const reply = await applyVersion(connection, {
      ...{
        catalogueId: 'ignored',
        baseVersion: version,
        fromMs: 0,
        isRollback: false,
        writeId: 'mine',
      },
      origin: { kind: 'apply', who: null, rolled_back_to: null },
      document: JSON.stringify(withOutput(catalogue, 6)),
    });
    expect(reply).toMatchObject({ kind: 'applied', version: version + 1 });
    await operator.untilSold(version + 1);
    expect((await operator.read()).catalogue).toEqual(withOutput(catalogue, 6));
  });

  it('may lack a model that keys are limited to: it is unknown until it is sold again', async () => {
    const { version, catalogue } = await operator.read();
    const other = { id: 'other', max_output_tokens: 10, price: { input: 1, output: 1 } };
    await operator.put(version, { ...catalogue, models: [...catalogue.models, other] });
    const account = await operator.createAccount();
    const { key } = await operator.createKey(account, { models: ['other'] });
    const ask = async (model: string) =>
      (await askModel(node.url, key, messageOf('Hi', { model, max_tokens: 5 }))).status;
    await waitUntil(async () => (await ask('other')) === 200, 'the model is sold');
    await operator.put(version + 1, catalogue);
    await waitUntil(async () => (await ask('other')) === 404, 'the model is unknown');
    expect(await ask(HAIKU)).toBe(403);
    await operator.rollBack(version + 2, version + 1);
    await waitUntil(async () => (await ask('other')) === 200, 'the model is sold again');
  });

  it('is put back by a node when Redis has lost it', async () => {
    const { version, catalogue } = await operator.read();
    await operator.put(version, withOutput(catalogue, 2));
    await redis.cli('flushall');
    await waitUntil(
      () =>
        operator.read().then(
          (shown) => shown.version === version + 1,
          () => false,
        ),
      'the version is back',
    );
    expect((await operator.read()).catalogue).toEqual(withOutput(catalogue, 2));
  });
});
