import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { HAIKU } from '../../support/clients/ask-model.ts';
import {
  FAST,
  operate,
  SETTINGS,
  settingsOf,
  startOn,
  startRedis,
  withOutput,
} from '../../support/clients/operate-catalogue.ts';
import { launchGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

/** Longer than a slow machine takes to look at what waits, and to stop Redis. */
const PENDING_MS = 10_000;

describe('versions of the catalogue', () => {
  it('changes at its time although Redis is away, and survives a restart of the node', async () => {
    const redis = await startRedis();
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

  it('rolls back a rollback, and a rollback of that', async () => {
    const operator = operate(await startOn(await startRedis()));
    const { catalogue } = await operator.read();
    const dear = withOutput(catalogue, 2);
    await operator.put(1, dear);
    expect((await operator.rollBack(2, 1)).version).toBe(3);
    expect((await operator.rollBack(3, 2)).version).toBe(4);
    expect((await operator.read()).catalogue).toEqual(dear);
    const { changes, version } = await operator.rollBack(4, 3);
    expect([version, changes]).toEqual([
      5,
      [{ field: `models[${HAIKU}].price.output`, before: 2, after: 1 }],
    ]);
    await operator.untilSold(5);
    expect(await operator.read()).toMatchObject({ sold_version: 5, catalogue });
    await expect(operator.rollBack(4, 1)).rejects.toThrow(/409 .*catalogue_changed/);
    await expect(operator.rollBack(5, 9)).rejects.toThrow(/404 .*unknown_version/);
  });

  it('wait in the order of their times, ten at most, and not before one that waits', async () => {
    const operator = operate(await startOn(await startRedis()));
    const { catalogue } = await operator.read();
    const put = (base: number, day: number) =>
      operator.put(base, withOutput(catalogue, base), {
        from: new Date(Date.UTC(2037, 0, day)).toISOString(),
      });
    await put(1, 5);
    await expect(put(2, 4)).rejects.toThrow(/409 .*catalogue_pending.*2037-01-05/);
    for (let base = 2; base <= 10; base++) await put(base, base + 5);
    await expect(put(11, 20)).rejects.toThrow(/409 .*catalogue_full/);
    expect(await operator.read()).toMatchObject({ version: 11, sold_version: 1 });
    await operator.rollBack(11, 1);
    await operator.untilSold(12);
    expect((await put(12, 1)).version).toBe(13);
  });

  it('are not longer than Redis shall keep, and one that is leaves nothing behind', async () => {
    const operator = operate(await startOn(await startRedis()));
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
});
