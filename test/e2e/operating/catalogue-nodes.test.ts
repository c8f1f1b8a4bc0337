import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  askPrice,
  createKey,
  FAST,
  operate,
  SETTINGS,
  settingsOf,
  startOn,
  startRedis,
  withOutput,
} from '../../support/clients/operate-catalogue.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

describe('the catalogue of a node', () => {
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
});
