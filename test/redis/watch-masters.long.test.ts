import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import type { RedisConnection } from '../../src/redis/connect-redis.ts';
import { ROUND_INTERVAL_MS, watchMasters } from '../../src/redis/watch-masters.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  NO_AUTH,
  openConnection,
  standalone,
  tcp,
} from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startRelay } from './start-relay.ts';

const watches: { stop(): void }[] = [];

afterEach(async () => {
  for (const watch of watches.splice(0)) watch.stop();
  await closeConnections();
  await stopRedisServers();
});

function startWatch(connection: Pick<RedisConnection, 'client'>) {
  const seen = { changes: 0, sameMs: 0 };
  const watching = watchMasters({
    connection,
    log: createMemoryLog(),
    onChange: () => {
      seen.changes += 1;
    },
    onSame: (elapsedMs) => {
      seen.sameMs += elapsedMs;
    },
  });
  watches.push(watching);
  return { seen, stop: watching.stop };
}

/** Resolves when the first masters have been seen. Later changes are counted. */
async function watch(connection: Pick<RedisConnection, 'client'>) {
  const { seen } = startWatch(connection);
  await waitUntil(() => seen.changes === 1, 'the first masters are seen');
  seen.changes = 0;
  return { seen };
}

/** How often any client has asked this server. */
async function countQuestions(server: TestRedisServer): Promise<number> {
  const stats = await server.cli('INFO', 'commandstats');
  return Number(/cmdstat_info:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

/** Each look asks the server itself. */
async function waitForQuestions(server: TestRedisServer, count: number): Promise<void> {
  const before = await countQuestions(server);
  let looks = 0;
  await waitUntil(async () => {
    looks += 1;
    return (await countQuestions(server)) - before - looks >= count;
  }, `the master is asked ${count} times`);
}

async function startReplica(master: TestRedisServer): Promise<TestRedisServer> {
  const replica = await startRedisServer({
    args: ['--replicaof', '127.0.0.1', String(master.port), '--repl-diskless-sync-delay', '0'],
  });
  await waitUntil(async () => (await replica.cli('ROLE')).includes('connected'), 'it follows');
  return replica;
}

/** Three masters, followed by a replica of the first. */
async function startCluster() {
  const startNode = async () => {
    const busPort = await findFreePort();
    const args = ['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`];
    const node = await startRedisServer({ args });
    return { ...node, address: `127.0.0.1:${node.port}@${busPort}`, busPort };
  };
  const nodes = [await startNode(), await startNode(), await startNode()] as const;
  const addresses = nodes.map(({ address }) => address);
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  const [master] = nodes;
  const replica = await startNode();
  await replica.cli('CLUSTER', 'MEET', '127.0.0.1', `${master.port}`, `${master.busPort}`);
  const id = await master.cli('CLUSTER', 'MYID');
  const replicate = () => replica.cli('CLUSTER', 'REPLICATE', id);
  await waitUntil(async () => (await replicate()) === 'OK', 'it knows the master');
  await waitUntil(async () => (await replica.cli('ROLE')).includes('connected'), 'it follows');
  const isWhole = async (node: TestRedisServer) =>
    (await node.cli('CLUSTER', 'INFO')).includes('cluster_state:ok');
  const all = [...nodes, replica] as const;
  await waitUntil(
    async () => (await Promise.all(all.map(isWhole))).every(Boolean),
    'the cluster is formed',
  );
  return all;
}

describe('the watch over masters', () => {
  it('is quiet while nothing happens, also when the connection is lost and comes back', async () => {
    const server = await startRedisServer();
    const relay = await startRelay(server.port);
    const { seen } = await watch(openConnection(standalone(tcp(relay.port))));
    await waitForQuestions(server, 2);
    relay.pointTo(server.port);
    await waitForQuestions(server, 2);
    expect(seen.changes).toBe(0);
  });

  it('notices that a server was started anew', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const { seen } = await watch(openConnection(standalone(tcp(port))));
    await waitForQuestions(first, 2);
    await first.stop();
    const second = await startRedisServer({ port });
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
    await waitForQuestions(second, 2);
    expect(seen.changes).toBe(1);
  });

  it('notices a replica that takes over, when it is a master and not before', async () => {
    const master = await startRedisServer();
    // The server has the id of a master that the watch has never seen.
    const replica = await startReplica(await startRedisServer());
    const relay = await startRelay(master.port);
    const { seen } = await watch(openConnection(standalone(tcp(relay.port))));
    await waitForQuestions(master, 2);
    relay.pointTo(replica.port);
    await waitForQuestions(replica, 2);
    expect(seen.changes).toBe(0);
    await replica.cli('REPLICAOF', 'NO', 'ONE');
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
    await waitForQuestions(replica, 2);
    expect(seen.changes).toBe(1);
  });

  it('notices a replica of the same data that takes over', async () => {
    const master = await startRedisServer();
    const replica = await startReplica(master);
    const relay = await startRelay(master.port);
    const { seen } = await watch(openConnection(standalone(tcp(relay.port))));
    await waitForQuestions(master, 2);
    await replica.cli('REPLICAOF', 'NO', 'ONE');
    relay.pointTo(replica.port);
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
  });

  it('notices a node of a Cluster that takes over', async () => {
    const nodes = await startCluster();
    const connection = openConnection({
      topology: 'cluster',
      nodes: nodes.map(({ port }) => tcp(port)),
      tls: false,
      auth: NO_AUTH,
    });
    const { seen } = await watch(connection);
    const [master, , , replica] = nodes;
    await waitForQuestions(master, 3);
    expect(seen.changes).toBe(0);
    await replica.cli('CLUSTER', 'FAILOVER');
    await waitUntil(() => seen.changes > 0, 'the change is noticed');
    await waitForQuestions(replica, 3);
    expect(seen.changes).toBe(1);
  });

  it('tells for how long they were the same, and leaves out the time in which they were away', async () => {
    const port = await findFreePort();
    const first = await startRedisServer({ port });
    const startMs = performance.now();
    const { seen } = await watch(openConnection(standalone(tcp(port))));
    await waitUntil(() => seen.sameMs > 1_500, 'they are seen again');
    expect(seen.sameMs).toBeLessThanOrEqual(performance.now() - startMs);
    await first.stop();
    const stoppedMs = performance.now();
    const { sameMs } = seen;
    await waitUntil(() => performance.now() - stoppedMs > 2_500, 'rounds have passed without them');
    expect(seen.sameMs).toBe(sameMs);
    await startRedisServer({ port });
    await waitUntil(() => seen.sameMs > sameMs, 'the new ones are seen again');
    expect(seen.sameMs - sameMs).toBeLessThan(performance.now() - stoppedMs - 2_500);
  });

  it('takes the first masters that it sees for new, since nobody knows who was there before', async () => {
    const port = await findFreePort();
    const { seen } = startWatch(openConnection(standalone(tcp(port))));
    await startRedisServer({ port });
    await waitUntil(() => seen.changes === 1, 'they count as a change');
  });

  it('asks one question at a time, and none after it was stopped', async () => {
    const answers: ((info: string) => void)[] = [];
    const client = {
      options: { host: 'h', port: 1 },
      info: () => new Promise((resolve) => answers.push(resolve)),
    } as unknown as Redis;
    const { seen, stop } = startWatch({ client });
    await sleep(1.5 * ROUND_INTERVAL_MS);
    expect(answers).toHaveLength(1);
    answers[0]?.('role:master\r\nmaster_replid:aaa\r\n');
    await waitUntil(() => answers.length === 2, 'the next question follows');
    stop();
    answers[1]?.('role:master\r\nmaster_replid:bbb\r\n');
    await sleep(1.5 * ROUND_INTERVAL_MS);
    expect(answers).toHaveLength(2);
    expect(seen.changes).toBe(1);
  });
});
