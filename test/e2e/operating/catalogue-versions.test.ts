import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
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

describe('versions of the catalogue', () => {
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
});
