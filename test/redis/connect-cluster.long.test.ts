import { Cluster } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { probeRedis } from '../../src/redis/probe-redis.ts';
import { findFreePort } from '../support/servers/find-free-port.ts';
import {
  closeConnections,
  NO_AUTH,
  openConnection,
  tcp,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { startClusterMasters } from '../support/servers/start-cluster-masters.ts';
import { stopRedisServers, type TestRedisServer } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const TAGS = 60;

let nodes: readonly TestRedisServer[];
let target: RedisTarget;

function clusterAt(...ports: number[]): RedisTarget {
  return { topology: 'cluster', nodes: ports.map(tcp), tls: false, auth: NO_AUTH };
}

/** Each test needs a new cluster: some tests freeze a node, and one test ends a node. */
beforeEach(async () => {
  nodes = await startClusterMasters();
  target = clusterAt(...nodes.map(({ port }) => port));
});

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

describe('a connection to a Cluster', () => {
  it('runs scripts on every node, whatever the tag, also after their loss', async () => {
    const connection = openConnection(target);
    await waitForRedis(connection);
    const probeAll = () =>
      Promise.all(Array.from({ length: TAGS }, (_, n) => probeRedis(connection, n)));
    expect(await probeAll()).toHaveLength(TAGS);
    for (const node of nodes) {
      expect(await node.cli('info', 'commandstats')).toContain('cmdstat_evalsha');
      await node.cli('script', 'flush');
    }
    expect(await probeAll()).toHaveLength(TAGS);
  });

  it('answers the first calls after it is ready, many at once', async () => {
    const connection = openConnection(target);
    await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
    const replies = Array.from({ length: TAGS }, (_, n) => connection.send('get', [`k${n}`]));
    expect(await Promise.all(replies)).toHaveLength(TAGS);
  });

  it('connects to every node before the first call needs it', async () => {
    const { client } = openConnection(target);
    await waitUntil(() => {
      const masters = client instanceof Cluster ? client.nodes('master') : [];
      return masters.length === nodes.length && masters.every(({ status }) => status === 'ready');
    }, 'every node is connected');
  });

  it('starts from a single known node', async () => {
    const first = nodes[0]?.port ?? 0;
    const connection = openConnection(clusterAt(first));
    await waitForRedis(connection);
  });

  it('fails at once before the cluster was ever reached', async () => {
    const port = await findFreePort();
    const connection = openConnection(clusterAt(port));
    await expect(connection.send('ping', [])).rejects.toThrow("Cluster isn't ready");
    await waitUntil(() => connection.log.lines.length > 1, 'the failure is logged');
    expect(connection.log.lines.map((line) => line.message).sort()).toEqual([
      'cannot connect to Redis yet',
      'connection to Redis node lost',
    ]);
  });

  it('fails the calls for a frozen node in time, serves the others, and recovers', async () => {
    const connection = openConnection(target, 250);
    await waitForRedis(connection);
    const isServed = (n: number) =>
      probeRedis(connection, n).then(
        () => true,
        () => false,
      );
    const served = () => Promise.all(Array.from({ length: TAGS }, (_, n) => isServed(n)));
    nodes[1]?.signal('SIGSTOP');
    const during = await served();
    nodes[1]?.signal('SIGCONT');
    expect(during).toContain(true);
    expect(during).toContain(false);
    await waitUntil(async () => !(await served()).includes(false), 'every node is served again');
  });

  it('fails the calls for a node that it never reached, and serves the others', async () => {
    nodes[2]?.signal('SIGSTOP');
    const connection = openConnection(clusterAt(nodes[0]?.port ?? 0), 250);
    await waitUntil(() => connection.client.status === 'ready', 'the connection is ready');
    const answers = Array.from({ length: TAGS }, (_, n) =>
      probeRedis(connection, n).then(
        () => 'ok',
        (error: Error) => error.message,
      ),
    );
    expect([...new Set(await Promise.all(answers))].sort()).toEqual(['Command timed out', 'ok']);
    nodes[2]?.signal('SIGCONT');
  });

  it('reports the loss of a node once', async () => {
    const connection = openConnection(target, 250);
    await waitForRedis(connection);
    await nodes[2]?.stop();
    // A node that answers late on a busy machine is given up too.
    const losses = () =>
      connection.log.lines.filter(
        ({ message, fields }) =>
          message === 'connection to Redis node lost' &&
          fields['node'] === `127.0.0.1:${nodes[2]?.port}`,
      );
    await waitUntil(async () => {
      await Promise.allSettled(Array.from({ length: TAGS }, (_, n) => probeRedis(connection, n)));
      return losses().length > 0;
    }, 'the loss of the node is logged');
    expect(losses()).toHaveLength(1);
    expect(connection.log.lines[0]?.message).toBe('connected to Redis');
  });
});
