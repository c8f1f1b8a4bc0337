import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startCluster } from '../proof/support/start-cluster.ts';
import { waitForReplicas } from '../proof/support/start-sentinels.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { startPostgres } from '../support/servers/start-postgres.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readSection, readText } from './read-deploy-files.ts';

afterAll(stopRedisServers);

const REQUESTS = 5;
/**
 * In the order of the page; those of containers have none, and those of books in a file have a test
 * of their own.
 */
const [BACKUP = '', , BACKUP_CLUSTER = '', , ...RESTORE] = [
  ...readSection('Backup and restore').matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, commands]) => commands);

const [RESTORE_REDIS = '', GIVE_SLOTS = '', RESTORE_BOOKS = '', PROOF = ''] = RESTORE;

type Variables = Readonly<Record<string, string>>;

/** Runs commands from deploy/README.md in a shell, and returns their output. */
async function runCommands(commands: string, variables: Variables) {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    env: { PATH: `${installProgram()}:${process.env['PATH']}`, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid = 0 } = shell;
  let out = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (data) => {
      out += data;
    });
  }
  let code: number | null = null;
  const closed = once(shell, 'close').then(([status]) => {
    code = status;
  });
  // Also kills a server that the shell may have left running.
  onTestFinished(() => {
    if (code === null) process.kill(-pid, 'SIGKILL');
  });
  await closed;
  expect(code, out).toBe(0);
  return out;
}

/** Installs `tollgate` as a package manager would put it on the PATH. */
function installProgram(): string {
  const dir = createTempDir();
  const path = join(dir, 'tollgate');
  writeFileSync(
    path,
    `#!/bin/sh\nexec '${process.execPath}' '${resolve('dist/src/main.js')}' "$@"\n`,
  );
  chmodSync(path, 0o755);
  return dir;
}

async function startPair(dir?: string): Promise<readonly [TestRedisServer, TestRedisServer]> {
  const args = dir === undefined ? [] : ['--dir', dir];
  const master = await startRedisServer({ config: readText('redis/primary.conf'), args });
  const replica = await startRedisServer({
    config: readText('redis/replica.conf'),
    args: ['--replicaof', `127.0.0.1 ${master.port}`],
  });
  await waitForReplicas(master, 1);
  return [master, replica];
}

const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}`;

function startNode(redisUrl: string, booksUrl: string): Promise<Gateway> {
  const env = { TOLLGATE_REDIS_URL: redisUrl, TOLLGATE_BOOKS_URL: booksUrl };
  return startGateway({ config: FAST_CONFIG, env });
}

async function ask(node: Gateway, key: string): Promise<void> {
  for (let n = 0; n < REQUESTS; n++) {
    expect((await askModel(node.url, key, messageOf('Hi'))).status).toBe(200);
  }
}

async function waitForBooks(node: Gateway, account: string, requests: number): Promise<void> {
  const isIn = async () => {
    const path = `/usage?by=day&account=${account}`;
    const { total } = await admin(node).call<{ total: { requests: number } }>('GET', path);
    return total.requests === requests;
  };
  // A node is ready before its database has the tables.
  await waitUntil(() => isIn().catch(() => false), 'the books have every request');
}

describe('a backup', () => {
  it('is taken and restored as deploy/README.md says: the books prove it, and keys go on', async () => {
    const dir = createTempDir();
    const backup = join(dir, 'backup');
    const redisDir = join(dir, 'redis');
    for (const folder of [backup, redisDir]) mkdirSync(folder);
    const postgres = await startPostgres(onTestFinished);
    const booksUrl = await postgres.createDatabase('tollgate');

    const [master, replica] = await startPair();
    const node = await startNode(urlOf(master), booksUrl);
    const operator = admin(node);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    await ask(node, key);
    await operator.waitUntilSettled(account);
    await waitForBooks(node, account, REQUESTS);
    const before = [await operator.account(account), await operator.key(id)];

    await master.cli('wait', '1', '0');
    await runCommands(BACKUP, {
      BACKUP: backup,
      REPLICA_URL: urlOf(replica),
      BOOKS_URL: booksUrl,
    });
    node.signal('SIGTERM');
    await node.waitForExit();
    await Promise.all([master.stop(), replica.stop()]);

    const config = join(dir, 'redis.conf');
    const port = await findFreePort();
    writeFileSync(
      config,
      readText('redis/primary.conf').replace('port 6379', `port ${port}\nbind 127.0.0.1`),
    );
    await runCommands(RESTORE_REDIS, {
      BACKUP: backup,
      REDIS_DIR: redisDir,
      REDIS_CONF: config,
      REDIS_URL: urlOf({ port }),
    });
    expect(readdirSync(redisDir)).toContain('appendonlydir');
    const restoredBooks = await postgres.createDatabase('restored');
    await runCommands(RESTORE_BOOKS, { BACKUP: backup, BOOKS_URL: restoredBooks });

    const [restored] = await startPair(redisDir);
    const settings = join(dir, 'tollgate.yaml');
    const urls = `redis: {url: "${urlOf(restored)}"}\nbooks: {url: "${restoredBooks}"}\n`;
    writeFileSync(settings, `${urls}data_dir: ${join(dir, 'data')}\n`);
    const report = await runCommands(PROOF, { CONFIG: settings });
    expect(report).toContain(`entries: ${REQUESTS + 1}, accounts: 1, months of keys: 1`);
    expect(report).toMatch(/agree/);
    const again = await startNode(urlOf(restored), restoredBooks);
    const books = admin(again);
    expect([await books.account(account), await books.key(id)]).toEqual(before);
    await ask(again, key);
    await waitForBooks(again, account, 2 * REQUESTS);
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
    for (const account of accounts) await waitForBooks(node, account, 1);
    node.signal('SIGTERM');
    await node.waitForExit();
    const variables = { BACKUP: backup, REDIS_URL: urlOf({ port }), BOOKS_URL: booksUrl };
    await runCommands(BACKUP_CLUSTER, variables);
    await runCommands(BACKUP.replace(/^redis-cli.*$/m, ''), variables);

    const masters = readdirSync(backup)
      .filter((file) => file.endsWith('.rdb'))
      .map((file) => file.replace('.rdb', ''));
    expect(masters).toHaveLength(3);
    const redisUrl = await restoreCluster(masters, backup, dir);
    const restoredBooks = await postgres.createDatabase('restored');
    await runCommands(RESTORE_BOOKS, { BACKUP: backup, BOOKS_URL: restoredBooks });
    const settings = join(dir, 'tollgate.yaml');
    const urls = `redis: {url: "${redisUrl}"}\nbooks: {url: "${restoredBooks}"}\n`;
    writeFileSync(settings, `${urls}data_dir: ${join(dir, 'data')}\n`);
    const report = await runCommands(PROOF, { CONFIG: settings });
    expect(report).toContain(`accounts: ${accounts.length}`);
    expect(report).toMatch(/agree/);
  });
});

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
    await runCommands(GIVE_SLOTS, { BACKUP: backup, MASTER, REDIS_URL: urlOf(server) });
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
    await runCommands(RESTORE_REDIS.replace('$BACKUP/dump.rdb', `$BACKUP/${master}.rdb`), {
      ...{ BACKUP: backup, REDIS_DIR: folder, REDIS_CONF: file, REDIS_URL: urlOf({ port }) },
    });
  }
  const full = await Promise.all(places.map((place, at) => start(place, empty[at]?.port)));
  await waitUntilWhole(full);
  return `redis-cluster://${full.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
}
