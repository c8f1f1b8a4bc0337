import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { waitForReplicas } from '../proof/support/start-sentinels.ts';
import { admin } from '../support/clients/admin.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { startRedisServer, type TestRedisServer } from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntilCalled } from '../support/wait-until.ts';
import { readSection, readText } from './read-deploy-files.ts';

/**
 * In the order of the page; those of containers have none, and those of books in a file have a test
 * of their own.
 */
const blocks = [...readSection('Backup and restore').matchAll(/```sh\n([\s\S]*?)```/g)].map(
  ([, commands = '']) => commands,
);
const blockWith = (text: string) => {
  const found = blocks.filter((block) => block.includes(text) && !block.includes('docker'));
  expect(found, text).toHaveLength(1);
  return found[0] ?? '';
};

/** What the page says. */
export const PAGE = {
  backup: blockWith('--rdb "$BACKUP/dump.rdb"'),
  backupCluster: blockWith('nodes.txt" |\n  while read -r master'),
  restoreRedis: blockWith('cp "$BACKUP/dump.rdb"'),
  giveSlots: blockWith('addslotsrange'),
  restoreBooks: blockWith('pg_restore'),
  proof: blockWith('tollgate ledger verify --config'),
  listChanges: blockWith('tollgate audit export'),
  repair: blockWith('--repair all'),
};

type Variables = Readonly<Record<string, string>>;

/** Runs commands from deploy/README.md in a shell, and returns their output. */
export async function runCommands(commands: string, variables: Variables): Promise<string> {
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', commands], {
    env: { PATH: `${installProgram()}:${process.env['PATH']}`, ...variables },
    cwd: createTempDir(),
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

export async function startPair(
  dir?: string,
): Promise<readonly [TestRedisServer, TestRedisServer]> {
  const args = dir === undefined ? [] : ['--dir', dir];
  const master = await startRedisServer({ config: readText('redis/primary.conf'), args });
  const replica = await startRedisServer({
    config: readText('redis/replica.conf'),
    args: ['--replicaof', `127.0.0.1 ${master.port}`],
  });
  await waitForReplicas(master, 1);
  return [master, replica];
}

/** Loads the backup into an empty folder as the page says. */
export async function restoreRedis(backup: string, redisDir: string): Promise<void> {
  const config = join(createTempDir(), 'redis.conf');
  const port = await findFreePort();
  writeFileSync(
    config,
    readText('redis/primary.conf').replace('port 6379', `port ${port}\nbind 127.0.0.1`),
  );
  await runCommands(PAGE.restoreRedis, {
    BACKUP: backup,
    REDIS_DIR: redisDir,
    REDIS_CONF: config,
    REDIS_URL: urlOf({ port }),
  });
}

export const urlOf = ({ port }: { readonly port: number }) => `redis://127.0.0.1:${port}`;

export function startNode(redisUrl: string, booksUrl: string): Promise<Gateway> {
  const env = { TOLLGATE_REDIS_URL: redisUrl, TOLLGATE_BOOKS_URL: booksUrl };
  return startGateway({ config: FAST_CONFIG, env });
}

/** The settings of commands, in a file. */
export function writeSettings(redisUrl: string, booksUrl: string): string {
  const dir = createTempDir();
  const path = join(dir, 'tollgate.yaml');
  const urls = `redis: {url: "${redisUrl}"}\nbooks: {url: "${booksUrl}"}\n`;
  writeFileSync(path, `${urls}data_dir: ${join(dir, 'data')}\n`);
  return path;
}

export async function waitForRequests(
  node: Gateway,
  account: string,
  requests: number,
): Promise<void> {
  const isIn = async () => {
    const path = `/usage?by=day&account=${account}`;
    const { total } = await admin(node).call<{ total: { requests: number } }>('GET', path);
    return total.requests === requests;
  };
  // A node is ready before its database has the tables.
  await waitUntilCalled(isIn, 'the books have every request');
}
