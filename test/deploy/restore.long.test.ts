import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../proof/support/start-cluster.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import type { Gateway } from '../support/servers/start-gateway.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readText } from './read-deploy-files.ts';
import {
  PAGE,
  restoreRedis,
  runCommands,
  startNode,
  startPair,
  urlOf,
  waitForRequests,
  writeSettings,
} from './restore-scene.ts';

afterAll(stopRedisServers);

const REQUESTS = 5;
const findMonth = () => new Date().toISOString().slice(0, 7);

/** A node with an account, its Redis and its books, and folders for a backup and a restore. */
async function startScene() {
  const dir = createTempDir();
  const [backup, redisDir] = [join(dir, 'backup'), join(dir, 'redis')];
  for (const folder of [backup, redisDir]) mkdirSync(folder);
  const postgres = await startPostgres(onTestFinished);
  const booksUrl = await postgres.createDatabase('tollgate');
  const [master, replica] = await startPair();
  const node = await startNode(urlOf(master), booksUrl);
  const operator = admin(node);
  const account = await operator.createAccount();
  return { backup, redisDir, postgres, booksUrl, master, replica, node, operator, account };
}

async function ask(node: Gateway, key: string): Promise<void> {
  for (let n = 0; n < REQUESTS; n++) {
    expect((await askModel(node.url, key, messageOf('Hi'))).status).toBe(200);
  }
}

describe('a backup', () => {
  it('is taken and restored as deploy/README.md says: the books prove it, and keys go on', async () => {
    const scene = await startScene();
    const { backup, redisDir, postgres, booksUrl, master, replica } = scene;
    const { node, operator, account } = scene;
    const { id, key } = await operator.createKey(account);
    await ask(node, key);
    await operator.waitUntilSettled(account);
    await waitForRequests(node, account, REQUESTS);
    const before = [await operator.account(account), await operator.key(id)];

    await master.cli('wait', '1', '0');
    await runCommands(PAGE.backup, {
      BACKUP: backup,
      REPLICA_URL: urlOf(replica),
      BOOKS_URL: booksUrl,
    });
    node.signal('SIGTERM');
    await node.waitForExit();
    await Promise.all([master.stop(), replica.stop()]);

    await restoreRedis(backup, redisDir);
    expect(readdirSync(redisDir)).toContain('appendonlydir');
    const restoredBooks = await postgres.createDatabase('restored');
    await runCommands(PAGE.restoreBooks, { BACKUP: backup, BOOKS_URL: restoredBooks });

    const [restored] = await startPair(redisDir);
    const settings = writeSettings(urlOf(restored), restoredBooks);
    const report = await runCommands(PAGE.proof, { CONFIG: settings });
    expect(report).toContain(`entries: ${REQUESTS + 1}, accounts: 1, months of keys: 1`);
    expect(report).toMatch(/agree/);
    const again = await startNode(urlOf(restored), restoredBooks);
    const books = admin(again);
    expect([await books.account(account), await books.key(id)]).toEqual(before);
    await ask(again, key);
    await waitForRequests(again, account, 2 * REQUESTS);
  });

  it('of Redis alone loses nothing that the books have, if the page is followed', async () => {
    const scene = await startScene();
    const { backup, redisDir, booksUrl, master, replica, node, operator, account } = scene;
    const { key } = await operator.createKey(account);
    const leaked = await operator.createKey(account);
    await ask(node, key);
    await operator.waitUntilSettled(account);
    await operator.waitForBooks();
    await master.cli('wait', '1', '0');
    const backedUpAt = new Date().toISOString();
    const variables = { REPLICA_URL: urlOf(replica), BOOKS_URL: booksUrl };
    await runCommands(PAGE.backup, { BACKUP: backup, ...variables });

    await ask(node, key);
    const payment = { amount: 50, id: 'invoice-7', note: '' };
    await operator.call('POST', `/accounts/${account}/credits`, payment);
    await operator.revoke(leaked.id);
    await operator.waitUntilSettled(account);
    await operator.waitForBooks();
    const before = await operator.account(account);
    const statement = await readStatement(node, account);
    expect(statement).toMatchObject({ closing_balance: before.balance, paid: 1_050 });
    node.signal('SIGTERM');
    await node.waitForExit();
    await Promise.all([master.stop(), replica.stop()]);

    await restoreRedis(backup, redisDir);
    const [restored] = await startPair(redisDir);
    const again = await startNode(urlOf(restored), booksUrl);
    expect((await askModel(again.url, leaked.key, messageOf('Hi'))).status).toBe(200);
    const changes = await readChanges(again, backedUpAt);
    expect(changes).toContainEqual(
      expect.objectContaining({ what: 'key.revoke', key: leaked.id, outcome: 'done' }),
    );
    expect(changes).toContainEqual(
      expect.objectContaining({
        what: 'credits.add',
        account,
        after: expect.objectContaining({ id: 'invoice-7', amount: 50 }),
      }),
    );
    const { revoke, call, waitForBooks, waitUntilSettled } = admin(again);
    await revoke(leaked.id);
    expect((await askModel(again.url, leaked.key, messageOf('Hi'))).status).toBe(401);
    expect(await call('POST', `/accounts/${account}/credits`, payment)).toMatchObject({
      repeated: false,
    });
    await waitUntilSettled(account);
    await waitForBooks();
    const settings = writeSettings(urlOf(restored), booksUrl);
    const report = await runCommands(PAGE.repair, { CONFIG: settings });
    expect(report).toMatch(/repaired acct_\w+: balance was/);
    expect(report).toContain('The ledger and Redis agree.');
    const { balance } = await admin(again).account(account);
    expect(await readStatement(again, account)).toMatchObject({
      closing_balance: balance,
      paid: 1_050,
      payments: [{ amount: 1_000 }, { amount: 50 }],
    });
    expect(balance).toBeLessThan(before.balance);
    expect(await runCommands(PAGE.proof, { CONFIG: settings })).toContain('Redis agree.');
  });

  it('of a Cluster has a file of each master, and is restored with the slots of each', async () => {
    const dir = createTempDir();
    const backup = join(dir, 'backup');
    mkdirSync(backup);
    const postgres = await startPostgres(onTestFinished);
    const booksUrl = await postgres.createDatabase('tollgate');
    const { target } = await startCluster(readText('redis/cluster.conf'));
    const [first] = target.topology === 'cluster' ? target.nodes : [];
    const port = first?.kind === 'tcp' ? first.port : 0;

    const node = await startNode(`redis-cluster://127.0.0.1:${port}`, booksUrl);
    const operator = admin(node);
    const accounts = await Promise.all(Array.from({ length: 12 }, () => operator.createAccount()));
    for (const account of accounts) {
      const { key } = await operator.createKey(account);
      expect((await askModel(node.url, key, messageOf('Hi'))).status).toBe(200);
      await operator.waitUntilSettled(account);
    }
    for (const account of accounts) await waitForRequests(node, account, 1);
    node.signal('SIGTERM');
    await node.waitForExit();
    const variables = { BACKUP: backup, REDIS_URL: urlOf({ port }), BOOKS_URL: booksUrl };
    await runCommands(PAGE.backupCluster, variables);
    await runCommands(PAGE.backup.replace(/^redis-cli.*$/m, ''), variables);

    const masters = readdirSync(backup)
      .filter((file) => file.endsWith('.rdb'))
      .map((file) => file.replace('.rdb', ''));
    expect(masters).toHaveLength(3);
    const redisUrl = await restoreCluster(masters, backup, dir);
    const restoredBooks = await postgres.createDatabase('restored');
    await runCommands(PAGE.restoreBooks, { BACKUP: backup, BOOKS_URL: restoredBooks });
    const settings = writeSettings(redisUrl, restoredBooks);
    const report = await runCommands(PAGE.proof, { CONFIG: settings });
    expect(report).toContain(`accounts: ${accounts.length}`);
    expect(report).toMatch(/agree/);
  });
});

const readStatement = (node: Gateway, account: string) =>
  admin(node).call('GET', `/accounts/${account}/statements/${findMonth()}`);

/** What the page has people list. */
async function readChanges(node: Gateway, sinceTime: string): Promise<unknown[]> {
  const out = join(createTempDir(), 'changes.ndjson');
  await runCommands(PAGE.listChanges.replace('changes.ndjson', out), {
    BACKUP_TIME: sinceTime,
    TOLLGATE_ADMIN_URL: node.opsUrl,
    TOLLGATE_DATA_DIR: node.dataDir,
  });
  const lines = readFileSync(out, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

/** Follows the page with new servers, and returns their address. */
async function restoreCluster(
  masters: readonly string[],
  backup: string,
  dir: string,
): Promise<string> {
  const config = readText('redis/cluster.conf').replace(/^min-replicas-.*$/gm, '');
  const places = await Promise.all(
    masters.map(async (master) => {
      const folder = join(dir, master);
      mkdirSync(folder);
      return { master, folder, bus: `${await findFreePort()}` };
    }),
  );
  const start = ({ folder, bus }: (typeof places)[number], port?: number) => {
    const args = ['--dir', folder, '--cluster-port', bus];
    return startRedisServer({ config, args, ...(port === undefined ? {} : { port }) });
  };
  const waitUntilWhole = (servers: readonly TestRedisServer[]) =>
    waitUntil(async () => {
      const infos = await Promise.all(servers.map((server) => server.cli('cluster', 'info')));
      return infos.every((info) => info.includes('cluster_state:ok'));
    }, 'every master knows of all slots');

  const empty = await Promise.all(places.map((place) => start(place)));
  for (const [at, { master: MASTER, bus }] of places.entries()) {
    const server = empty[at] as TestRedisServer;
    await runCommands(PAGE.giveSlots, { BACKUP: backup, MASTER, REDIS_URL: urlOf(server) });
    if (at > 0) await empty[0]?.cli('cluster', 'meet', '127.0.0.1', `${server.port}`, bus);
  }
  await waitUntilWhole(empty);
  await Promise.all(empty.map((server) => server.stop()));
  for (const [at, { master, folder, bus }] of places.entries()) {
    const { port } = empty[at] as TestRedisServer;
    rmSync(join(folder, 'appendonlydir'), { recursive: true });
    const file = join(dir, `${master}.conf`);
    const network = `port ${port}\nbind 127.0.0.1\ncluster-port ${bus}`;
    writeFileSync(file, config.replace('port 6379', network));
    await runCommands(PAGE.restoreRedis.replace('$BACKUP/dump.rdb', `$BACKUP/${master}.rdb`), {
      ...{ BACKUP: backup, REDIS_DIR: folder, REDIS_CONF: file, REDIS_URL: urlOf({ port }) },
    });
  }
  const full = await Promise.all(places.map((place, at) => start(place, empty[at]?.port)));
  await waitUntilWhole(full);
  return `redis-cluster://${full.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
}
