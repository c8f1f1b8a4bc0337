import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HistoryRow, historyAnswer } from '../../../src/ops/schemas/cluster-schemas.ts';
import { eventAnswer } from '../../../src/ops/schemas/event-schemas.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { type HeardEvent, listenToEvents } from '../../support/clients/listen-to-events.ts';
import { waitForMembers } from '../../support/clients/read-cluster.ts';
import type { Gateway } from '../../support/servers/start-gateway.ts';
import { startNodes } from '../../support/servers/start-nodes.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();

function sumOf(events: readonly HeardEvent[], field: string): number {
  return events
    .filter(({ type }) => type === 'summary')
    .reduce((total, { data }) => total + Number(data[field]), 0);
}

async function startFleet() {
  const started = await startNodes({ workers: 1, cleanUp });
  const nodes = [...started.nodes, await started.startNode()] as const;
  const [first] = nodes;
  await waitForMembers(first, (shown) => shown.length === nodes.length, 'all are shown');
  const account = await admin(first).createAccount();
  const { key } = await admin(first).createKey(account);
  return { ...started, nodes, key };
}

let asked = 0;
let fleet: Awaited<ReturnType<typeof startFleet>>;
beforeAll(async () => {
  fleet = await startFleet();
});

async function ask(node: Gateway): Promise<void> {
  expect((await askModel(node.url, fleet.key, messageOf('Hi'))).status).toBe(200);
  asked += 1;
}

it('the events of a node tell of all nodes, or of one that is asked for', async () => {
  const { nodes } = fleet;
  const [first, second, third] = nodes;
  const all = await listenToEvents(first);
  const one = await listenToEvents(first, `?node=${second.nodeId()}`);
  const latest = () => all().findLast(({ type }) => type === 'summary')?.data['nodes'];
  await waitUntil(() => latest() === nodes.length, 'all nodes tell what they do');

  for (const [index, node] of nodes.entries()) {
    for (let count = 0; count <= index; count++) await ask(node);
  }
  await waitUntil(() => sumOf(all(), 'requests') === 6, 'the sum of all is told');
  await waitUntil(() => sumOf(one(), 'requests') === 2, 'the one is told');
  expect(sumOf(all(), 'credits')).toBeGreaterThan(sumOf(one(), 'credits'));
  expect(
    all()
      .filter(({ type }) => type === 'summary')
      .map(({ data }) => data['node']),
  ).toEqual(expect.not.arrayContaining([second.nodeId()]));

  const account = await admin(third).createAccount({ credits: 0 });
  const hasChange = (events: readonly HeardEvent[]) =>
    events.some(({ type, data }) => type === 'change' && data['account'] === account);
  await waitUntil(() => hasChange(all()), 'a change at another node is told');
  expect(all().find(({ type }) => type === 'change')?.data['node']).toBe(third.nodeId());
  second.signal('SIGHUP');
  const reloaded = (events: readonly HeardEvent[]) =>
    events.find(({ type }) => type === 'reload')?.data['node'];
  await waitUntil(() => reloaded(all()) === second.nodeId(), 'the reload of another node is told');
  await waitUntil(() => reloaded(one()) === second.nodeId(), 'and to those who listen to it');
  expect(hasChange(one())).toBe(false);
  for (const { type, data } of [...all(), ...one()]) eventAnswer.parse({ event: type, data });
  await expect(admin(first).call('GET', '/events?node=nobody')).rejects.toThrow('node_not_found');
});

const readRows = async (gateway: Gateway): Promise<HistoryRow[]> =>
  historyAnswer.parse(await admin(gateway).call('GET', '/history')).data;

it('the history has every request of all nodes once, also when the node that adds up dies', async () => {
  const { nodes, redis } = fleet;
  const total = async (by: Gateway) =>
    (await readRows(by)).reduce((sum, { requests }) => sum + requests, 0);
  for (const node of nodes) await ask(node);
  await waitUntil(async () => (await total(nodes[0])) === asked, 'they are in the history');
  const rows = await readRows(nodes[1]);
  const busy = rows.filter(({ requests }) => requests > 0);
  for (const { latency_ms: latency } of busy) expect(latency?.p50).toBeGreaterThan(0);
  expect(new Set(rows.map(({ at }) => at)).size).toBe(rows.length);
  for (const { at } of rows) expect(Date.parse(at) % 10_000).toBe(0);

  const members = await redis.cli('hgetall', 'gw:{f}:members');
  const holder = await redis.cli('get', 'gw:{f}:lease');
  const lines = members.split('\n');
  const holderId =
    lines[lines.findIndex((line) => line.includes(`|${holder.trim()}|`)) - 1]?.trim();
  const dying = nodes.find((node) => node.nodeId() === holderId);
  const left = nodes.filter((node) => node !== dying);
  expect(left).toHaveLength(2);
  for (const node of left) await ask(node);
  dying?.signal('SIGKILL');
  await waitUntil(async () => (await total(left[0] as Gateway)) === asked, 'the next one adds up');
  const after = await readRows(left[1] as Gateway);
  expect(after.slice(0, rows.length)).toEqual(rows);
  expect(new Set(after.map(({ at }) => at)).size).toBe(after.length);
});
