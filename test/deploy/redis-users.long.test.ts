import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { FLEET_LIVE_CHANNEL } from '../../src/redis/redis-keys.ts';
import { runProgram } from '../cli/use-cli.ts';
import { examine } from '../doctor/examine.ts';
import { startCluster } from '../proof/support/start-cluster.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { readAdminToken } from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { FAST_CONFIG } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readText } from './read-deploy-files.ts';

afterAll(stopRedisServers);

const USERS = readText('redis/users.acl');
const AS_ADMIN = ['--user', 'admin', '--pass', 'ADMIN_PASSWORD', '--no-auth-warning'];
/**
 * The rules of a single server are right for a Cluster, too, apart from the commands that clients
 * send only to a Cluster.
 */
const TOLLGATE_RULES = /^user tollgate (.*)$/m.exec(USERS)?.[1]?.split(' ') ?? [];

/** The server rewrites its users file, so each server gets a copy. */
function writeUsers(): string {
  const path = join(createTempDir(), 'users.acl');
  writeFileSync(path, USERS);
  return path;
}

const startWithUsers = (file: string, args: readonly string[] = []) =>
  startRedisServer({
    config: readText(`redis/${file}`),
    args: ['--aclfile', writeUsers(), ...args],
  });

/** How many connections are subscribed to a channel. */
type CountListeners = (channel: string) => Promise<number>;

/** Opens the stream of events that the dashboard opens, and closes it again. */
async function watchEvents(gateway: Gateway, countListeners: CountListeners): Promise<void> {
  const leaving = new AbortController();
  const { status } = await fetch(`${gateway.opsUrl}/admin/v1/events`, {
    headers: { authorization: `Bearer ${readAdminToken(gateway)}` },
    signal: leaving.signal,
  });
  expect(status).toBe(200);
  const hasListeners = async () => (await countListeners(FLEET_LIVE_CHANNEL)) > 0;
  await waitUntil(hasListeners, 'the node hears what all nodes do');
  leaving.abort();
  await waitUntil(async () => !(await hasListeners()), 'the node hears it no longer', 20_000);
}

/** The number after the name of the channel in the reply of PUBSUB NUMSUB. */
const readCount = (reply: string) => Number(reply.split('\n')[1]);

/** Everything that a node does with Redis for its clients and operators. */
async function useNode(redisUrl: string, countListeners: CountListeners): Promise<void> {
  const env = { TOLLGATE_REDIS_URL: redisUrl };
  const gateway = await startGateway({ config: FAST_CONFIG, env });
  const operator = admin(gateway);
  const account = await operator.createAccount();
  const { id, key } = await operator.createKey(account, { monthly_cap: 10, rpm: 1_000 });
  expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(200);
  const stream = await openStream(gateway.url, key, messageOf('[[tokens 20]]'));
  await stream.ended;
  for (const path of ['/v1/models', '/v1/key']) {
    const { status } = await fetch(`${gateway.url}${path}`, { headers: { 'x-api-key': key } });
    expect(status, path).toBe(200);
  }
  await operator.setKey(id, { concurrency: 5 });
  await operator.rotate(id, 60);
  await operator.waitUntilSettled(account);
  expect((await operator.account(account)).balance).toBeLessThan(1_000);
  for (const path of [`/keys/${id}`, '/usage', '/audit', '/cluster', '/accounts']) {
    await operator.call('GET', path);
  }
  await watchEvents(gateway, countListeners);
  await operator.call('POST', `/accounts/${account}/credits`, { amount: -1, id: 'b', note: '' });
  await operator.revoke(id);
  expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(401);
  await waitUntil(async () => {
    const variables = { ...env, TOLLGATE_DATA_DIR: gateway.dataDir };
    return (await runProgram(variables, 'ledger', 'verify')).code === 0;
  }, 'the books agree with Redis');
  expect(await operator.call('GET', '/books')).toMatchObject({ drifts: 0 });
}

async function expectNoFault(redisUrl: string): Promise<void> {
  const find = await examine({ redisUrl });
  for (const name of [
    ...(['redis-reachable', 'redis-topology', 'redis-version', 'redis-persistence'] as const),
    ...(['redis-eviction', 'redis-memory', 'redis-replicas', 'redis-writes'] as const),
    ...(['redis-rights', 'redis-clock'] as const),
  ]) {
    expect(find(name).state, `${name}: ${find(name).found}`).toMatch(/^(ok|skipped)$/);
  }
  // A loaded machine is slow. That causes a warning, and is no fault of the users file.
  expect(find('redis-latency').state).not.toBe('failed');
  expect(find('redis-rights').state).toBe('ok');
}

describe("the users of Redis: the gateway's own", () => {
  it('may do all that a node does, and the doctor has nothing to say', async () => {
    const server = await startWithUsers('standalone.conf');
    const url = `redis://tollgate:TOLLGATE_PASSWORD@127.0.0.1:${server.port}`;
    await useNode(url, async (channel) =>
      readCount(await server.cli(...AS_ADMIN, 'pubsub', 'numsub', channel)),
    );
    expect(await server.cli(...AS_ADMIN, 'acl', 'log')).toBe('');
    await expectNoFault(url);
  });

  it('may do so in a Cluster too', async () => {
    const { target } = await startCluster(readText('redis/cluster.conf'));
    if (target.topology !== 'cluster') throw new Error('this is no Cluster');
    const ask = (port: number, ...command: string[]) =>
      execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' }).trim();
    const ports = target.nodes.map(({ port }) => port);
    for (const port of ports) {
      expect(ask(port, 'acl', 'setuser', 'tollgate', ...TOLLGATE_RULES)).toBe('OK');
    }
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    const url = `redis-cluster://tollgate:TOLLGATE_PASSWORD@${hosts}`;
    await useNode(url, async (channel) =>
      ports.reduce((sum, port) => sum + readCount(ask(port, 'pubsub', 'numsub', channel)), 0),
    );
    for (const port of ports) expect(ask(port, 'acl', 'log')).toBe('');
    await expectNoFault(url);
  });

  it('may touch nothing else, and others nothing at all', async () => {
    const server = await startWithUsers('standalone.conf');
    const as = (user: string, ...command: string[]) =>
      server.cli('--user', user, '--pass', `${user.toUpperCase()}_PASSWORD`, ...command);
    expect(await as('tollgate', 'get', 'other')).toContain('NOPERM');
    for (const command of [
      ['flushall'],
      ['keys', '*'],
      ['config', 'get', 'requirepass'],
      ['acl', 'list'],
      ['shutdown'],
      ['publish', 'other', 'm'],
    ]) {
      expect(await as('tollgate', ...command), command.join(' ')).toContain('NOPERM');
    }
    expect(await as('replica', 'get', 'gw:{p0}:doctor')).toContain('NOPERM');
    expect(await server.cli('get', 'gw:{p0}:doctor')).toContain('NOAUTH');
  });
});

describe("the users of Redis: a replica's and a Sentinel's", () => {
  it('are enough to follow a master, and to take over from it', async () => {
    const masterAuth = ['--masteruser', 'replica', '--masterauth', 'REPLICA_PASSWORD'];
    const master = await startWithUsers('primary.conf', masterAuth);
    const replica = await startWithUsers('replica.conf', [
      ...['--replicaof', `127.0.0.1 ${master.port}`],
      ...masterAuth,
    ]);
    await waitUntil(
      async () =>
        /slave0:.*state=online/.test(await master.cli(...AS_ADMIN, 'info', 'replication')),
      'the replica follows',
    );
    const config = readText('redis/sentinel.conf')
      .replace('10.0.0.1 6379 2', `127.0.0.1 ${master.port} 1`)
      .concat('sentinel auth-user main sentinel\nsentinel auth-pass main SENTINEL_PASSWORD\n');
    const sentinel = await startRedisServer({ config, isSentinel: true });
    await waitUntil(
      async () =>
        (await sentinel.cli('sentinel', 'replicas', 'main')).includes(`127.0.0.1:${replica.port}`),
      'the Sentinel has found the replica',
    );
    await waitUntil(
      async () => (await sentinel.cli('sentinel', 'failover', 'main')) === 'OK',
      'the Sentinel takes the order to fail over',
    );
    // A Sentinel disconnects the clients of a server whose role it changes.
    const roleOf = (server: typeof replica) => server.cli(...AS_ADMIN, 'role').catch(() => '');
    await waitUntil(
      async () =>
        (await roleOf(replica)).startsWith('master') && (await roleOf(master)).startsWith('slave'),
      'they have changed places',
      60_000,
    );
    for (const server of [master, replica]) {
      expect(await server.cli(...AS_ADMIN, 'acl', 'log')).toBe('');
    }
  });
});
