import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { BUCKETS } from '../../../src/keys/bucket-tags.ts';
import { clusterAnswer, nodeAnswer } from '../../../src/ops/schemas/cluster-schemas.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { readCluster, waitForMembers } from '../../support/clients/read-cluster.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { type Nodes, startNodes } from '../../support/servers/start-nodes.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Of the lines of a log. */
const ERROR_LEVEL = 50;
const cleanUp = useCleanUp();
let nodes: Nodes['nodes'];
let redis: Nodes['redis'];
let startNode: Nodes['startNode'];

beforeAll(async () => {
  const started = await startNodes({ workers: 1, cleanUp });
  ({ nodes, redis } = started);
  startNode = (options) => started.startNode({ cleanUp: onTestFinished, ...options });
});
afterAll(stopRedisServers);

/** The states of some nodes, as one of them shows them. */
function waitForStates(by: Gateway, wanted: readonly (readonly [Gateway, string])[]) {
  return waitForMembers(
    by,
    (nodes) =>
      wanted.every(
        ([node, state]) => nodes.find(({ id }) => id === node.nodeId())?.state === state,
      ),
    `the nodes are ${wanted.map(([, state]) => state)}`,
  );
}

const waitUntilUp = (by: Gateway, nodes: readonly Gateway[]) =>
  waitForStates(
    by,
    nodes.map((node) => [node, 'up'] as const),
  );

describe('the nodes on one Redis', () => {
  it('ignore what is not theirs among the members and on the line', async () => {
    await waitUntilUp(nodes[0], nodes);
    const odd = ['', 'null', '[]', '{}', '{"type":7}', '{"type":"toString"}', '{"type":"reload"}'];
    for (const text of odd) {
      await redis.cli('publish', 'gw:fleet', text);
      await redis.cli('publish', 'gw:fleet-live', text);
      await redis.cli('hset', 'gw:{f}:members', `odd ${text}`, text);
      await redis.cli('rpush', 'gw:{f}:history', text);
    }
    await redis.cli('set', 'gw:{f}:facts', '{"members":1}');
    for (const by of nodes) await waitUntilUp(by, nodes);
    expect((await readCluster(nodes[0])).nodes).toHaveLength(2);
    const { data } = await admin(nodes[0]).call<{ data: object[] }>('GET', '/history');
    expect(Array.isArray(data)).toBe(true);
    const account = await admin(nodes[0]).createAccount();
    const { key } = await admin(nodes[0]).createKey(account);
    expect((await askModel(nodes[1].url, key, messageOf('Hi'))).status).toBe(200);
    for (const node of nodes) {
      const errors = node.logLines().filter(({ level }) => Number(level) >= ERROR_LEVEL);
      // Each of these nodes has books of its own, of which one complains.
      expect(errors.filter(({ from }) => from !== 'books')).toEqual([]);
    }
  });

  it('know of each other again after Redis has lost everything', async () => {
    await waitUntilUp(nodes[0], nodes);
    await redis.cli('flushall');
    await redis.cli('script', 'flush');
    for (const by of nodes) await waitUntilUp(by, nodes);
  });

  it('are all shown by any of them, which says who it is', async () => {
    const all = [...nodes, await startNode()];
    for (const by of all) {
      await waitUntilUp(by, all);
      const shown = await readCluster(by);
      clusterAnswer.parse(shown);
      expect(shown).toMatchObject({
        ...{ answered_by: by.nodeId(), node: { id: by.nodeId() }, fleet: { state: 'up' } },
        versions_differ: { config: false, catalogue: false, version: false },
      });
      expect(shown.nodes.map(({ id }) => id)).toEqual(all.map((node) => node.nodeId()).toSorted());
      expect(shown.nodes.find(({ id }) => id === (all[0] ?? by).nodeId())).toMatchObject({
        ...{ ops_url: all[0]?.opsUrl, redis: { state: 'up' }, workers: { up: 1, wanted: 1 } },
        upstreams: [{ name: 'simulated', state: 'closed' }],
      });
    }
    const one = await admin(all[1] as Gateway).call<object>(
      'GET',
      `/cluster/nodes/${nodes[0].nodeId()}`,
    );
    nodeAnswer.parse(one);
    const { node, workers, upstreams, redis } = await readCluster(nodes[0]);
    expect(one).toMatchObject({
      ...{ id: nodes[0].nodeId(), state: 'up', node, workers, upstreams, redis },
    });
    await expect(admin(nodes[0]).call('GET', '/cluster/nodes/nobody')).rejects.toThrow(
      'node_not_found',
    );
    await waitForMembers(
      nodes[1],
      (shown) => shown.reduce((sum, { sweeps }) => sum + (sweeps ?? 0), 0) === BUCKETS,
      'together they sweep every bucket once',
    );
    await waitUntil(
      async () => (await scrape(nodes[1])).sum('tollgate_members', { state: 'up' }) === 3,
      'they are counted',
    );
  });

  it('count how many settings they have, and show when those differ', async () => {
    const [asked, changed] = nodes;
    changed.setConfig(`workers: 1\n${FAST_UPSTREAM}guards: {failed_keys_per_minute: 7}\n`);
    changed.signal('SIGHUP');
    await waitUntil(
      async () => (await readCluster(asked)).versions_differ.config,
      'the settings differ',
    );
    await waitUntil(
      async () => (await scrape(asked)).sum('tollgate_member_versions', { of: 'config' }) === 2,
      'that is counted',
    );
    expect((await scrape(asked)).sum('tollgate_member_versions', { of: 'version' })).toBe(1);
  });

  it('agree who is up while their clocks differ by hours', async () => {
    const shift = (hours: number) =>
      `--import=data:text/javascript,const now=Date.now;Date.now=()=>now()+${hours * 3_600_000}`;
    const all = [
      ...[nodes[0], await startNode({ nodeFlags: [shift(5)] })],
      await startNode({ nodeFlags: [shift(-5)] }),
    ];
    for (const by of all) await waitUntilUp(by, all);
    const { nodes: shown } = await readCluster(nodes[1]);
    for (const { heard_at, started_at } of shown) {
      expect(Math.abs(Date.parse(heard_at) - Date.now())).toBeLessThan(600_000);
      expect(Math.abs(Date.parse(started_at) - Date.now())).toBeLessThan(600_000);
    }
  });

  it('that are killed, frozen or ended are gone, and say so of themselves if they can', async () => {
    const [asked] = nodes;
    const [killed, frozen, ended] = [await startNode(), await startNode(), await startNode()];
    await waitUntilUp(asked, [...nodes, killed, frozen, ended]);
    onTestFinished(() => frozen.signal('SIGCONT'));
    killed.signal('SIGKILL');
    frozen.signal('SIGSTOP');
    ended.signal('SIGTERM');
    await waitForStates(asked, [
      ...([
        [killed, 'gone'],
        [frozen, 'gone'],
        [ended, 'gone'],
        [asked, 'up'],
      ] as const),
    ]);
    const { nodes: shown } = await readCluster(asked);
    const hasEnded = (node: Gateway) => shown.find(({ id }) => id === node.nodeId())?.has_ended;
    expect([ended, killed, frozen].map(hasEnded)).toEqual([true, false, false]);
    const detail = await admin(asked).call('GET', `/cluster/nodes/${killed.nodeId()}`);
    expect(detail).toMatchObject({ state: 'gone', node: { id: killed.nodeId() } });
    const inMetrics = async (state: string) =>
      (await scrape(asked)).sum('tollgate_members', { state });
    await waitUntil(
      async () => (await inMetrics('gone')) === 2,
      'those that were lost are counted',
    );

    frozen.signal('SIGCONT');
    await waitForStates(asked, [[frozen, 'up']]);
  });

  it('with the same id are two members, since a data folder was copied', async () => {
    const [asked] = nodes;
    const original = await startNode();
    const dataDir = join(createTempDir(), 'copy');
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'node-id'), `${original.nodeId()}\n`);
    const copy = await startNode({ dataDir });
    const twins = (id: string) => id.startsWith(original.nodeId());
    await waitForMembers(
      asked,
      (shown) => shown.filter(({ id, state }) => twins(id) && state === 'up').length === 2,
      'both are shown',
    );
    const { nodes: shown } = await readCluster(asked);
    expect(shown.map(({ id }) => id)).toContain((await readCluster(copy)).answered_by);
    await copy.waitForLog(/another node has the same id/);
    original.signal('SIGKILL');
    await waitForMembers(
      asked,
      (left) =>
        left
          .filter(({ id }) => twins(id))
          .map(({ state }) => state)
          .join() === 'up',
      'the one that is left has the name',
    );
  });

  it('serve and answer for themselves while Redis is away, and say so', async () => {
    const [asked, other] = nodes;
    await waitUntilUp(asked, nodes);
    redis.signal('SIGKILL');
    await waitUntil(async () => (await readCluster(asked)).fleet.state === 'out', 'it is away');
    const shown = await readCluster(asked);
    clusterAnswer.parse(shown);
    expect(shown.nodes.map(({ id, state }) => [id, state])).toEqual([[asked.nodeId(), 'up']]);
    for (const path of [`/cluster/nodes/${other.nodeId()}`, '/history']) {
      await expect(admin(asked).call('GET', path)).rejects.toThrow('503');
    }
    expect(await admin(asked).call('GET', `/cluster/nodes/${asked.nodeId()}`)).toMatchObject({
      state: 'up',
    });
    expect((await fetch(`${asked.url}/healthz`)).status).toBe(200);

    await startRedisServer({ port: redis.port });
    for (const by of nodes) await waitUntilUp(by, nodes);
  });
});
