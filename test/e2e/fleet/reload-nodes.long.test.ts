import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { NodeReload } from '../../../src/ops/schemas/cluster-schemas.ts';
import { admin } from '../../support/clients/admin.ts';
import { readCluster, waitForMembers } from '../../support/clients/read-cluster.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';

afterAll(stopRedisServers);

const reloadAll = async (gateway: Gateway) =>
  (await admin(gateway).call<{ nodes: NodeReload[] }>('POST', '/cluster/reload')).nodes;
const versionOf = async (gateway: Gateway) => (await readCluster(gateway)).node.config.version;

let nodes: Gateway[] = [];
/** The nodes in the order in which the first one has them reload. */
beforeEach(async () => {
  const started = await startNodes({ workers: 1 });
  const [first, second] = started.nodes;
  const others = [second, await started.startNode()];
  nodes = [first, ...others.toSorted((one, other) => (one.nodeId() < other.nodeId() ? -1 : 1))];
  await waitForMembers(first, (shown) => shown.length === 3, 'all are shown');
});

it('all nodes reload when one of them is told so, and each writes who wanted it', async () => {
  const [asked] = nodes as [Gateway];
  const reloaded = await reloadAll(asked);
  expect(reloaded.map(({ id, status }) => [id, status])).toEqual(
    nodes.map((node) => [node.nodeId(), 'reloaded']),
  );
  expect(reloaded.map((each) => each.config_version)).toEqual(
    await Promise.all(nodes.map(versionOf)),
  );
  for (const version of await Promise.all(nodes.map(versionOf))) expect(version).toMatch(/-2$/);
  const { data } = await admin(asked).call<{ data: { what: string; node: string; who: object }[] }>(
    ...(['GET', '/audit'] as const),
  );
  const entries = data.filter(({ what }) => what === 'node.reload');
  expect(entries.map(({ node }) => node).toSorted()).toEqual(
    nodes.map((node) => node.nodeId()).toSorted(),
  );
  for (const { who } of entries) expect(who).toEqual(entries[0]?.who);
});

it('the nodes after the first that refuses keep their settings', async () => {
  const [asked, refusing, last] = nodes as [Gateway, Gateway, Gateway];
  refusing.setConfig('workers: none\n');
  expect(await reloadAll(asked)).toEqual([
    { id: asked.nodeId(), status: 'reloaded', config_version: expect.stringMatching(/-2$/) },
    { id: refusing.nodeId(), status: 'refused', problems: [expect.stringContaining('workers')] },
    { id: last.nodeId(), status: 'skipped' },
  ]);
  expect(await versionOf(last)).toMatch(/-1$/);
});

it('a node that is silent stops the reload, and does not reload when it wakes up', async () => {
  const [asked, frozen, last] = nodes as [Gateway, Gateway, Gateway];
  frozen.signal('SIGSTOP');
  onTestFinished(() => frozen.signal('SIGCONT'));
  expect((await reloadAll(asked)).map(({ status }) => status)).toEqual([
    ...['reloaded', 'silent', 'skipped'],
  ]);
  frozen.signal('SIGCONT');
  await waitForMembers(last, (shown) => shown.every(({ state }) => state === 'up'), 'it is back');
  // Its answer to a later message shows that it has read the earlier one.
  frozen.setConfig('workers: none\n');
  expect((await reloadAll(asked)).map(({ status }) => status)).toEqual([
    ...['reloaded', 'refused', 'skipped'],
  ]);
  expect(await versionOf(frozen)).toMatch(/-1$/);
});
