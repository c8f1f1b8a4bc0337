import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startLedgerExporter } from '../../src/ledger/start-ledger-exporter.ts';
import { fillBuckets, HASTY_PACE, streamPlaces } from '../ledger/ledger-scene.ts';
import { waitForReplicas } from '../proof/support/start-sentinels.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readSection, readText } from './read-deploy-files.ts';

afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const REQUESTS = 5;
const [BACKUP_COMMANDS = '', RESTORE_COMMANDS = '', PROOF_COMMAND = ''] = [
  ...readSection('Backup and restore').matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, commands]) => commands);

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
  const primary = await startRedisServer({ config: readText('redis/primary.conf'), args });
  const replica = await startRedisServer({
    config: readText('redis/replica.conf'),
    args: ['--replicaof', `127.0.0.1 ${primary.port}`],
  });
  await waitForReplicas(primary, 1);
  return [primary, replica];
}

const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}`;

function startNode(redisUrl: string, dataDir: string): Promise<Gateway> {
  return startGateway({ config: FAST_CONFIG, dataDir, env: { TOLLGATE_REDIS_URL: redisUrl } });
}

async function ask(node: Gateway, key: string): Promise<void> {
  for (let n = 0; n < REQUESTS; n++) {
    expect((await askModel(node.url, key, messageOf('Hi'))).status).toBe(200);
  }
}

/** Simulates another node from long ago, whose part of the ledger exists only in its segments. */
async function leaveSegments(primary: TestRedisServer, dir: string): Promise<void> {
  const connection = openConnection(standalone(tcp(primary.port)));
  await waitForRedis(connection);
  const places = await fillBuckets(connection, [8]);
  mkdirSync(dir, { recursive: true });
  const exporter = startLedgerExporter({
    connection,
    dir,
    nodeId: 'long-ago',
    clock: { nowMs: () => Date.now() + 1_000 },
    log: createMemoryLog(),
    pace: { ...HASTY_PACE, keepMs: 0 },
  });
  await waitUntil(
    async () => (await streamPlaces(connection, [8])).size < places.size,
    'the ledger is exported and trimmed',
  );
  await exporter.stop();
}

describe('a backup', () => {
  it('is taken and restored as deploy/README.md says: the ledger proves it, and keys go on', async () => {
    const dir = createTempDir();
    const folders = { data: join(dir, 'data'), other: join(dir, 'other') };
    const backup = join(dir, 'backup');
    const redisDir = join(dir, 'redis');
    for (const folder of [backup, redisDir]) mkdirSync(folder);

    const [primary, replica] = await startPair();
    await leaveSegments(primary, join(folders.other, 'ledger'));
    const node = await startNode(urlOf(primary), folders.data);
    const operator = admin(node);
    const account = await operator.createAccount();
    const { id, key } = await operator.createKey(account);
    await ask(node, key);
    await operator.waitUntilSettled(account);
    const before = [await operator.account(account), await operator.key(id)];

    const REPLICA_URL = urlOf(replica);
    await primary.cli('wait', '1', '0');
    for (const [NODE, DATA_DIR] of [
      ['node-1', folders.data],
      ['node-2', folders.other],
    ] as const) {
      await runCommands(BACKUP_COMMANDS, { BACKUP: backup, REPLICA_URL, NODE, DATA_DIR });
    }
    node.signal('SIGTERM');
    await node.waitForExit();
    await Promise.all([primary.stop(), replica.stop()]);

    const config = join(dir, 'redis.conf');
    const port = await findFreePort();
    writeFileSync(
      config,
      readText('redis/primary.conf').replace('port 6379', `port ${port}\nbind 127.0.0.1`),
    );
    await runCommands(RESTORE_COMMANDS, {
      BACKUP: backup,
      REDIS_DIR: redisDir,
      REDIS_CONF: config,
      REDIS_URL: urlOf({ port }),
    });
    expect(readdirSync(redisDir)).toContain('appendonlydir');

    const [restored] = await startPair(redisDir);
    const settings = join(dir, 'tollgate.yaml');
    writeFileSync(settings, `redis: {url: "${urlOf(restored)}"}\ndata_dir: ${folders.data}\n`);
    const report = await runCommands(PROOF_COMMAND, { BACKUP: backup, CONFIG: settings });
    expect(report).toContain('entries: 12, accounts: 2, months of keys: 2');
    expect(report).toContain('The ledger and Redis agree.');
    const again = await startNode(urlOf(restored), folders.data);
    const books = admin(again);
    expect([await books.account(account), await books.key(id)]).toEqual(before);
    await ask(again, key);
  }, 120_000);
});
