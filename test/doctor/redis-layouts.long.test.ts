import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeClocks } from '../../src/doctor/store/check-pace.ts';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { startCluster } from '../proof/support/start-cluster.ts';
import { startSentinels } from '../proof/support/start-sentinels.ts';
import { tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { examine, problem } from './examine.ts';

afterAll(stopRedisServers);

const hostsOf = (endpoints: readonly { readonly port: number }[]) =>
  endpoints.map(({ port }) => `127.0.0.1:${port}`).join(',');

function nodesOf(target: RedisTarget): readonly { readonly port: number }[] {
  if (target.topology === 'cluster') return target.nodes;
  return target.topology === 'sentinel' ? target.sentinels : [];
}

describe('a Cluster', () => {
  let master: TestRedisServer;
  let hosts: string;
  beforeAll(async () => {
    const site = await startCluster();
    master = site.master;
    hosts = hostsOf(nodesOf(site.target));
  });

  it('is examined master by master, and found to be whole', async () => {
    const find = await examine({ redisUrl: `redis-cluster://${hosts}` });
    expect(find('redis-topology')).toEqual({
      state: 'ok',
      found: 'a Cluster of 3 masters, all slots served',
    });
    expect(find('redis-reachable').found.split(', ')).toHaveLength(3);
    expect(find('redis-replicas')).toEqual({ state: 'ok', found: '1 connected' });
    for (const name of ['redis-writes', 'redis-rights', 'redis-clock'] as const) {
      expect(find(name).state, name).toBe('ok');
    }
  });

  it('is told from one server', async () => {
    const find = await examine({ redisUrl: `redis://127.0.0.1:${master.port}` });
    expect(find('redis-topology')).toEqual(problem('failed', 'a Cluster', 'redis-cluster://'));
  });

  it('fails when slots are not served', async () => {
    await master.cli('cluster', 'delslots', '0');
    const find = await examine({ redisUrl: `redis-cluster://127.0.0.1:${master.port}` });
    expect(find('redis-topology')).toEqual(problem('failed', '16383 of 16384', 'missing slots'));
    await master.cli('cluster', 'addslots', '0');
    await waitUntil(
      async () => (await master.cli('cluster', 'info')).includes('cluster_state:ok'),
      'the Cluster is whole again',
    );
  });
});

describe('Sentinels', () => {
  let target: RedisTarget;
  let hosts: string;
  beforeAll(async () => {
    ({ target } = await startSentinels());
    hosts = hostsOf(nodesOf(target));
  });

  it('lead to their master, and can agree', async () => {
    const find = await examine({ redisUrl: `redis-sentinel://${hosts}/main` });
    expect(find('redis-topology').found).toBe('Sentinels that can agree on a failover');
    expect(find('redis-reachable')).toEqual({ state: 'ok', found: 'main' });
    expect(find('redis-replicas').found).toBe('2 connected');
  });

  it('fail with a name of a master that they do not know', async () => {
    const find = await examine({ redisUrl: `redis-sentinel://${hosts}/other` });
    expect(find('redis-topology')).toEqual(problem('failed', 'the name other', 'SENTINEL MASTERS'));
    expect(find('redis-reachable').state).toBe('failed');
  });

  it('are told from one server', async () => {
    const [first] = nodesOf(target);
    const find = await examine({ redisUrl: `redis://127.0.0.1:${first?.port}` });
    expect(find('redis-topology')).toEqual(problem('failed', 'a Sentinel', 'redis-sentinel://'));
  });
});

it('one server is told from a Cluster and from a Sentinel', async () => {
  const server = await startRedisServer();
  for (const url of ['redis-cluster://HOST', 'redis-sentinel://HOST/main']) {
    const find = await examine({ redisUrl: url.replace('HOST', hostsOf([tcp(server.port)])) });
    expect(find('redis-topology'), url).toEqual(
      problem('failed', 'one server alone', 'with redis://'),
    );
  }
});

it('masters whose clocks are apart are a warning, and one that was slow to answer is not', () => {
  const at = (name: string, offsetMs: number, errorMs = 1) => ({ name, offsetMs, errorMs });
  expect(judgeClocks([at('one', 10), at('other', -20)]).state).toBe('ok');
  expect(judgeClocks([at('one', 700), at('other', -700)])).toEqual(
    problem('warning', 'the clocks of the masters are 1.4 s apart', 'NTP'),
  );
  expect(judgeClocks([at('one', 700), at('other', -700, 500)]).state).toBe('ok');
  expect(judgeClocks([at('one', 1_500, 600)]).state).toBe('ok');
  expect(judgeClocks([at('one', -1_500)])).toEqual(problem('warning', '1.5 s behind', 'NTP'));
});
