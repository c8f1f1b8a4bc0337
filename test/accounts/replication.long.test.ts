import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import { closeConnections, NO_AUTH, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openDirectory, type TestDirectory } from './use-directory.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

const connectedReplicas = async (master: TestRedisServer) =>
  [...(await master.cli('info', 'replication')).matchAll(/state=online/g)].length;

async function startPair() {
  const master = await startRedisServer();
  const replica = await startRedisServer({ args: ['--replicaof', '127.0.0.1', `${master.port}`] });
  await waitUntil(async () => (await connectedReplicas(master)) === 1, 'the replica is online');
  const directory = await openDirectory(standalone(tcp(master.port)));
  const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
  await waitUntilReplicated(directory, id);
  return { master, replica, directory, id };
}

/** A replica that is called online may still load what it was sent. */
const waitUntilReplicated = (directory: TestDirectory, id: string) =>
  waitUntil(
    async () => (await directory.patchAccount(id, { name: 'Acme' })).replicated === 1,
    'the replica of its master answers',
  );

/** Every kind of change that a caller relies on. */
async function changeAll(directory: TestDirectory, id: string): Promise<number[]> {
  const payment = { micros: 7, id: 'p', note: '' };
  const created = await directory.createKey(id, {});
  const changed = [
    created,
    await directory.addCredits(id, payment),
    await directory.addCredits(id, payment),
    await directory.patchAccount(id, { plan: 'team' }),
    await directory.patchKey(created.record.id, { rpm: 1 }),
    await directory.rotateKey(created.record.id),
    await directory.revokeKey(created.record.id),
  ];
  return changed.map(({ replicated }) => replicated);
}

describe('a change', () => {
  it('tells that nobody else has it where there is no replica, without waiting for one', async () => {
    const redis = await startRedisServer();
    const directory = await openDirectory(standalone(tcp(redis.port)));
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    expect(new Set(await changeAll(directory, id))).toEqual(new Set([0]));
    expect(await redis.cli('info', 'commandstats')).not.toContain('cmdstat_wait');
  });

  it('waits for a replica to have it', async () => {
    const { directory, id } = await startPair();
    expect(new Set(await changeAll(directory, id))).toEqual(new Set([1]));
  });

  it('tells when the replica does not answer, and the next one when it does again', async () => {
    const { master, replica, directory, id } = await startPair();
    replica.signal('SIGSTOP');
    const { record, replicated } = await directory.createKey(id, {});
    expect(replicated).toBe(0);
    // Tested over a new connection too: a server would not have to wait for that connection's own
    // writes.
    await master.cli('client', 'kill', 'type', 'normal');
    await waitUntil(() => directory.connection.client.status === 'ready', 'it is connected');
    expect((await directory.revokeKey(record.id)).replicated).toBe(0);
    replica.signal('SIGCONT');
    const isReplicated = async () => (await directory.revokeKey(record.id)).replicated === 1;
    await waitUntil(isReplicated, 'the replica answers again');
  });
});

describe('a change in a Cluster of three masters and three replicas', () => {
  it('waits for a replica of the master that has it', async () => {
    const { nodes, target } = await startCluster();
    const directory = await openDirectory(target);
    const ids: string[] = [];
    for (const bucket of [0, 100, 255]) {
      const [high, low] = [Math.floor(bucket / 62), bucket % 62];
      const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
      const id = `acct_${digits[high]}${digits[low]}0000000001`;
      await directory.ensureAccount(id, { name: 'Acme', plan: 'pro' });
      ids.push(id);
      await waitUntilReplicated(directory, id);
      expect(new Set(await changeAll(directory, id))).toEqual(new Set([1]));
    }
    const { accounts } = await directory.listAccounts({ limit: 10 });
    expect(accounts.map(({ id }) => id)).toEqual(ids);

    const [frozen] = await findReplicas(nodes);
    frozen?.replica.signal('SIGSTOP');
    const replicated: number[] = [];
    for (const id of ids) {
      replicated.push((await directory.patchAccount(id, { plan: 'business' })).replicated);
    }
    frozen?.replica.signal('SIGCONT');
    expect(replicated.toSorted()).toEqual([0, 1, 1]);
  });
});

async function startCluster(): Promise<{ nodes: TestRedisServer[]; target: RedisTarget }> {
  const addresses: string[] = [];
  const nodes: TestRedisServer[] = [];
  for (let n = 0; n < 6; n += 1) {
    const busPort = await findFreePort();
    const node = await startRedisServer({
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`],
        // A replica that a test freezes must remain a replica.
        ...['--cluster-node-timeout', '15000'],
      ],
    });
    nodes.push(node);
    addresses.push(`127.0.0.1:${node.port}@${busPort}`);
  }
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  execFileSync('redis-cli', create);
  await waitUntil(async () => {
    const infos = await Promise.all(nodes.map((node) => node.cli('cluster', 'info')));
    if (!infos.every((info) => info.includes('cluster_state:ok'))) return false;
    return (await findReplicas(nodes)).length === 3;
  }, 'the cluster is formed');
  const target: RedisTarget = {
    topology: 'cluster',
    nodes: nodes.map(({ port }) => tcp(port)),
    tls: false,
    auth: NO_AUTH,
  };
  return { nodes, target };
}

/** The replicas that are in step with their master. */
async function findReplicas(nodes: readonly TestRedisServer[]) {
  const found: { readonly replica: TestRedisServer }[] = [];
  for (const node of nodes) {
    const info = await node.cli('info', 'replication');
    if (info.includes('role:slave') && info.includes('master_link_status:up')) {
      found.push({ replica: node });
    }
  }
  return found;
}
