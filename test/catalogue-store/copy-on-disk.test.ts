import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { applyVersion, readHead } from '../../src/catalogue-store/catalogue-records.ts';
import { keepCatalogue } from '../../src/catalogue-store/keep-catalogue.ts';
import { describeCatalogue } from '../../src/config/describe-catalogue.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const CANNOT_WRITE = { level: 'warn', message: 'the copy of the catalogue cannot be written' };

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

it('a copy that the disk does not take is told as that, and written when the disk takes it', async () => {
  const { port } = await startRedisServer();
  const connection = openConnection(standalone(tcp(port)));
  await waitForRedis(connection);
  const { upstreams, models, plans } = parseConfig({ path: undefined, text: '', env: {} });
  const dataDir = createTempDir();
  // A folder of this name stands for a disk that is full.
  const obstacle = join(dataDir, 'catalogue.json.new');
  const log = createMemoryLog();
  const keep = async () => {
    const keeper = await keepCatalogue({
      ...{ connection, upstreams: () => upstreams, seed: { models, plans }, dataDir, log },
      ...{ line: { publish: async () => {}, onMessage: () => {}, onOpen: () => {} } },
      ...{ randomBytes, clock: { nowMs: Date.now }, onChange: () => {} },
    });
    onTestFinished(() => keeper.stop());
    return keeper;
  };
  const copied = () => {
    const copy = JSON.parse(readFileSync(join(dataDir, 'catalogue.json'), 'utf8'));
    return copy.versions.at(-1).version;
  };

  (await keep()).stop();
  mkdirSync(obstacle);
  const id = (await readHead(connection))?.id ?? '';
  const apply = (baseVersion: number) =>
    applyVersion(connection, {
      ...{ catalogueId: id, baseVersion, fromMs: 0, isRollback: false, writeId: `${baseVersion}` },
      origin: { kind: 'apply', who: null, rolled_back_to: null },
      document: JSON.stringify(describeCatalogue({ models, plans }, upstreams)),
    });
  await apply(1);
  const keeper = await keep();
  expect(keeper.state().version).toBe(2);
  expect(log.lines).toContainEqual(expect.objectContaining(CANNOT_WRITE));
  await apply(2);
  await waitUntil(() => keeper.state().version === 3, 'the node sells the new version');
  await keeper.look();
  expect(log.lines.map(({ message }) => message).join()).not.toContain('Redis is away');
  expect(copied()).toBe(1);

  rmdirSync(obstacle);
  await waitUntil(() => copied() === 3, 'the copy has the new version');
});
