import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAIKU } from '../../support/clients/ask-model.ts';
import {
  FAST,
  operate,
  SETTINGS,
  settingsOf,
  startDurableRedis,
  startOn,
  withOutput,
} from '../../support/clients/catalogue-scene.ts';
import { type Gateway, launchGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const cleanUp = useCleanUp();
afterAll(stopRedisServers);

/** Longer than a slow machine takes to look at what waits, and to stop Redis. */
const PENDING_MS = 10_000;

it('a version of the catalogue changes at its time although Redis is away, and survives a restart of the node', async () => {
  const redis = await startDurableRedis();
  const node = await startOn(redis);
  const operator = operate(node);
  const { catalogue } = await operator.read();
  await operator.put(1, withOutput(catalogue, 2));
  const from = new Date(Date.now() + PENDING_MS).toISOString();
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

describe('versions of the catalogue', () => {
  let node: Gateway;
  let operator: ReturnType<typeof operate>;

  beforeAll(async () => {
    node = await startOn(await startDurableRedis(), SETTINGS, cleanUp);
    operator = operate(node);
  });

  it('are not longer than Redis shall keep, and one that is leaves nothing behind', async () => {
    const { catalogue } = await operator.read();
    const long = Array.from({ length: 180 }, (_, model) => ({
      ...{ ...catalogue.models[0], id: `m-${model}` },
      aliases: Array.from({ length: 28 }, (__, alias) => `${'x'.repeat(105)}-${model}-${alias}`),
    }));
    const models = [...catalogue.models, ...long];
    for (const more of [{}, { dry_run: true }]) {
      await expect(operator.put(1, { ...catalogue, models }, more)).rejects.toThrow(
        /413 .*catalogue_too_large/,
      );
    }
    expect(await operator.call('GET', '/catalogue/history')).toMatchObject({
      data: [{ version: 1, kind: 'seed', who: null }],
    });
  });

  it('rolls back a rollback, and a rollback of that', async () => {
    const { version: first, catalogue } = await operator.read();
    const dear = withOutput(catalogue, 2);
    await operator.put(first, dear);
    expect((await operator.rollBack(first + 1, first)).version).toBe(first + 2);
    expect((await operator.rollBack(first + 2, first + 1)).version).toBe(first + 3);
    expect((await operator.read()).catalogue).toEqual(dear);
    const { changes, version } = await operator.rollBack(first + 3, first + 2);
    expect([version, changes]).toEqual([
      first + 4,
      [{ field: `models[${HAIKU}].price.output`, before: 2, after: 1 }],
    ]);
    await operator.untilSold(first + 4);
    expect(await operator.read()).toMatchObject({ sold_version: first + 4, catalogue });
    await expect(operator.rollBack(first + 3, first)).rejects.toThrow(/409 .*catalogue_changed/);
    await expect(operator.rollBack(first + 4, first + 8)).rejects.toThrow(/404 .*unknown_version/);
  });

  it('rolls back, but not to a version whose upstream is gone', async () => {
    const { version, catalogue } = await operator.read();
    const slow = [{ ...catalogue.models[0], routes: [{ upstream: 'slow' }] }];
    await operator.put(version, { ...catalogue, models: slow });
    const from = new Date(Date.now() + 3_600_000).toISOString();
    await operator.put(version + 1, withOutput(catalogue, 9), { from });
    expect((await operator.rollBack(version + 2, version)).version).toBe(version + 3);
    await operator.untilSold(version + 3);
    expect((await operator.read()).catalogue).toEqual(catalogue);

    node.setConfig(settingsOf([FAST], { output: 4 }));
    await operator.call('POST', '/cluster/reload');
    await expect(operator.rollBack(version + 3, version + 1)).rejects.toThrow(
      /no upstream has the name/,
    );
    expect(await operator.read()).toMatchObject({
      ...{ version: version + 3, sold_version: version + 3, catalogue },
    });
  });

  it('wait in the order of their times, ten at most, and not before one that waits', async () => {
    const { version: first, catalogue } = await operator.read();
    const put = (waiting: number, day: number) =>
      operator.put(first + waiting, withOutput(catalogue, 10 + waiting), {
        from: new Date(Date.UTC(2037, 0, day)).toISOString(),
      });
    await put(0, 5);
    await expect(put(1, 4)).rejects.toThrow(/409 .*catalogue_pending.*2037-01-05/);
    for (let waiting = 1; waiting < 10; waiting++) await put(waiting, waiting + 5);
    await expect(put(10, 20)).rejects.toThrow(/409 .*catalogue_full/);
    expect(await operator.read()).toMatchObject({ version: first + 10, sold_version: first });
    await operator.rollBack(first + 10, first);
    await operator.untilSold(first + 11);
    expect((await put(11, 1)).version).toBe(first + 12);
  });
});
