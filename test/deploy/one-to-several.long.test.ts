import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { startGateway } from '../support/servers/start-gateway.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { readSection } from './read-deploy-files.ts';
import { runCommands, startPair, urlOf, writeSettings } from './restore-scene.ts';

afterAll(stopRedisServers);

const LEFT = 'a Redis of this node left data that nobody reads';

describe('a node with a Redis of its own', () => {
  it('becomes the first of several as deploy/README.md says, with all that it has', async () => {
    const [moveRedis = '', moveBooks = ''] = [
      ...readSection('From one node to several').matchAll(/```sh\n([\s\S]*?)```/g),
    ].map(([, commands]) => commands);
    const dataDir = createTempDir();
    const first = await startGateway({ config: FAST_CONFIG, dataDir });
    const operator = admin(first);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    expect((await askModel(first.url, key, messageOf('Hi'))).status).toBe(200);
    await operator.waitUntilSettled(account);
    await operator.waitForBooks();
    const before = [await operator.account(account), await operator.key(id)];
    first.signal('SIGTERM');
    expect(await first.waitForExit()).toBe(0);

    const redisDir = join(createTempDir(), 'redis');
    mkdirSync(redisDir);
    await runCommands(moveRedis, { DATA_DIR: dataDir, REDIS_DIR: redisDir });
    const [master] = await startPair(redisDir);
    const booksUrl = await (await startPostgres(onTestFinished)).createDatabase('tollgate');
    const env = { TOLLGATE_REDIS_URL: urlOf(master), TOLLGATE_BOOKS_URL: booksUrl };
    const again = await startGateway({ config: FAST_CONFIG, dataDir, env });
    expect(again.stderr()).not.toContain(LEFT);
    const config = writeSettings(urlOf(master), booksUrl);
    const report = await runCommands(moveBooks, { DATA_DIR: dataDir, CONFIG: config });
    expect(report).toMatch(/entries: 3, accounts: 2[\s\S]*agree/);

    const second = await startGateway({ config: FAST_CONFIG, env });
    for (const node of [again, second]) {
      expect([await admin(node).account(account), await admin(node).key(id)]).toEqual(before);
    }
    for (const node of [again, second]) {
      expect((await askModel(node.url, key, messageOf('Hi'))).status).toBe(200);
    }
  });

  it('says at its start that it leaves them if it is given another Redis', async () => {
    const dataDir = createTempDir();
    const first = await startGateway({ config: FAST_CONFIG, dataDir });
    first.signal('SIGTERM');
    await first.waitForExit();
    expect(readdirSync(join(dataDir, 'redis'))).toContain('appendonlydir');
    const [master] = await startPair();
    const env = { TOLLGATE_REDIS_URL: urlOf(master) };
    const again = await startGateway({ config: FAST_CONFIG, dataDir, env });
    const line = again.logLines().find(({ msg }) => msg.includes(LEFT));
    expect(line).toMatchObject({ level: 40, dir: join(dataDir, 'redis') });
  });
});
