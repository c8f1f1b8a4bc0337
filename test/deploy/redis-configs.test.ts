import { afterAll, describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { startCluster } from '../proof/support/start-cluster.ts';
import { waitForReplicas } from '../proof/support/start-sentinels.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readText } from './read-deploy-files.ts';

afterAll(stopRedisServers);

const SHARED_CHECKS = [
  'redis-topology',
  'redis-persistence',
  'redis-eviction',
  'redis-memory',
  'redis-connections',
  'redis-replicas',
  'redis-writes',
] as const;

const start = (file: string, args: readonly string[] = []) =>
  startRedisServer({ config: readText(`redis/${file}`), args });

async function startPair(): Promise<readonly [TestRedisServer, TestRedisServer]> {
  const master = await start('primary.conf');
  const replica = await start('replica.conf', ['--replicaof', `127.0.0.1 ${master.port}`]);
  await waitForReplicas(master, 1);
  return [master, replica];
}

async function expectHealthy(redisUrl: string): Promise<void> {
  const find = await examine({ redisUrl });
  for (const name of SHARED_CHECKS) expect(find(name), name).toMatchObject({ state: 'ok' });
}

async function readSettings(server: TestRedisServer, ...names: string[]) {
  const values: Record<string, string> = {};
  for (const name of names) {
    values[name] = (await server.cli('config', 'get', name)).split('\n')[1] ?? '';
  }
  return values;
}

describe('the configurations of Redis', () => {
  it('for one server: the doctor has nothing to say, and each answer is on the disk', async () => {
    const server = await start('standalone.conf');
    await expectHealthy(`redis://127.0.0.1:${server.port}`);
    expect(await readSettings(server, 'appendfsync')).toEqual({ appendfsync: 'always' });
  });

  it('for a master and its replica: the doctor has nothing to say', async () => {
    const [master] = await startPair();
    await expectHealthy(`redis://127.0.0.1:${master.port}`);
  });

  it('for a master and its replica are the same, whoever is which', async () => {
    const [master, replica] = await startPair();
    const names = [
      ...['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'aof-use-rdb-preamble', 'save'],
      ...['maxmemory', 'maxmemory-policy', 'min-replicas-to-write', 'min-replicas-max-lag'],
      ...['repl-backlog-size', 'repl-diskless-sync-delay', 'timeout', 'tcp-keepalive'],
    ];
    expect(await readSettings(replica, ...names)).toEqual(await readSettings(master, ...names));
  });

  it('let a master that has lost its replica take no writes', async () => {
    const [master, replica] = await startPair();
    replica.signal('SIGSTOP');
    await waitUntil(
      async () => (await master.cli('set', 'a', '1')).includes('NOREPLICAS'),
      'writes are refused',
    );
    replica.signal('SIGCONT');
    await waitUntil(async () => (await master.cli('set', 'a', '1')) === 'OK', 'writes are taken');
  });

  it('for Sentinels: they agree on the master, and the doctor has nothing to say', async () => {
    const [master] = await startPair();
    const config = readText('redis/sentinel.conf');
    expect(config).toContain('sentinel monitor main 10.0.0.1 6379 2');
    const sentinels = await Promise.all(
      [1, 2, 3].map(() =>
        startRedisServer({
          config: config.replace('10.0.0.1 6379', `127.0.0.1 ${master.port}`),
          isSentinel: true,
        }),
      ),
    );
    await waitUntil(async () => {
      const views = await Promise.all(sentinels.map((s) => s.cli('sentinel', 'master', 'main')));
      return views.every((view) => view.includes('num-other-sentinels\n2\n'));
    }, 'they know each other');
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
    await expectHealthy(`redis-sentinel://${hosts}/main`);
    const [, downAfterMs] = /down-after-milliseconds main (\d+)/.exec(config) ?? [];
    const [, failoverTimeoutMs] = /failover-timeout main (\d+)/.exec(config) ?? [];
    expect(Number(failoverTimeoutMs)).toBeGreaterThanOrEqual(10 * Number(downAfterMs));
  });

  it('for a Cluster: it is formed, and the doctor has nothing to say', async () => {
    const { master, target } = await startCluster(readText('redis/cluster.conf'));
    if (target.topology !== 'cluster') throw new Error('this is no Cluster');
    const hosts = target.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',');
    await expectHealthy(`redis-cluster://${hosts}`);
    // Accounts on the other shards are served while one shard fails over, and no master accepts
    // writes without a replica.
    expect(
      await readSettings(master, 'cluster-require-full-coverage', 'min-replicas-to-write'),
    ).toEqual({ 'cluster-require-full-coverage': 'no', 'min-replicas-to-write': '1' });
  });
});
