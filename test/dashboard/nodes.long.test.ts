import { afterAll, beforeAll, expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import type { Gateway } from '../support/servers/start-gateway.ts';
import { type Nodes, startNodes } from '../support/servers/start-nodes.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { FAST_UPSTREAM } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let started: Nodes | undefined;
const openTab = useBrowser();

beforeAll(async () => {
  started = await startNodes({ cleanUp });
});
interface FleetData {
  readonly nodes: readonly { readonly id: string; readonly state: string }[];
}

const readCluster = (node: Gateway) => admin(node).call<FleetData>('GET', '/cluster');

/** The two nodes, each with its id, once both have heard of each other. */
async function readNodes() {
  const [one, other] = started?.nodes ?? [];
  if (one === undefined || other === undefined) throw new Error('the nodes have not started');
  const [here, there] = [one.nodeId(), other.nodeId()];
  await waitUntil(
    async () => (await readCluster(one)).nodes.filter(({ state }) => state === 'up').length === 2,
    'each node has heard of the other',
  );
  return { one, other, here, there };
}

const short = (id: string) => id.slice(0, 8);

it('the overview is about all nodes, and about one of them if it is chosen', async () => {
  const { one, other, here, there } = await readNodes();
  const tab = await openTab();
  await signIn(tab, one);
  const { page } = tab;
  const nodes = page.getByRole('table', { name: 'All nodes on this Redis' });
  for (const id of [here, there]) {
    await nodes
      .getByRole('row', { name: new RegExp(`^${short(id)}.* up .*2 of 2 1 closed`) })
      .waitFor();
  }
  const upstreams = page.getByRole('table', { name: 'Upstreams, and how many nodes' });
  await upstreams.getByRole('row', { name: 'simulated closed on 2 nodes' }).waitFor();

  const operator = admin(one);
  const { key } = await operator.createKey(await operator.createAccount());
  await page.getByLabel('Charts of').selectOption('the last five minutes');
  await page.getByRole('img', { name: /^Requests a second\. requests: 0 now/ }).waitFor();
  expect((await askModel(other.url, key, messageOf('Hi'))).status).toBe(200);
  await page
    .getByRole('img', { name: /^Requests a second\. requests: .* at most [1-9]/ })
    .waitFor();
  await expectAccessible(tab);

  await page.getByLabel('Show', { exact: true }).selectOption(there);
  await waitUntil(() => page.url().includes(`node=${there}`), 'the address names the node');
  await page.getByText('The lines of one node begin when you choose it.').waitFor();
  await page.getByRole('img', { name: /^Requests a second\. requests: 0 now/ }).waitFor();
  expect((await askModel(one.url, key, messageOf('Hi'))).status).toBe(200);
  expect((await askModel(other.url, key, messageOf('Hi'))).status).toBe(200);
  await page.getByRole('img', { name: /^Requests a second\. requests: .* at most 1;/ }).waitFor();
  const workers = page.getByRole('table', { name: 'Workers of this node' });
  for (const pid of other.workerPids()) {
    await workers.getByRole('cell', { name: String(pid), exact: true }).waitFor();
  }
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});

it('the charts of the last hour begin before the sign-in', async () => {
  const { one, other } = await readNodes();
  const operator = admin(one);
  const { key } = await operator.createKey(await operator.createAccount());
  for (const { url } of [one, other]) await askModel(url, key, messageOf('Hi'));
  interface Rows {
    readonly data: readonly { readonly requests: number }[];
  }
  const told = async () => {
    const { data } = await operator.call<Rows>('GET', '/history');
    return data.some(({ requests }) => requests > 0);
  };
  await waitUntil(told, 'the history has the requests');
  const tab = await openTab();
  await signIn(tab, one);
  await tab.page
    .getByRole('img', { name: /^Requests a second\. requests: .* at most (0\.)?[1-9]/ })
    .waitFor();
  expect(tab.errors).toEqual([]);
});

it('all nodes are listed, each can be opened, and all are reloaded with a result of each', async () => {
  const { one, other, here, there } = await readNodes();
  const tab = await openTab();
  await signIn(tab, one, '#/nodes');
  const { page } = tab;
  const nodes = page.getByRole('table', { name: 'All nodes on this Redis' });
  const rowOf = (id: string) => nodes.getByRole('row').filter({ hasText: short(id) });
  await rowOf(here).getByText('answers here').waitFor();
  await rowOf(there).getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'Node' }).waitFor();
  await page.locator('.facts').getByText(there, { exact: true }).waitFor();
  for (const pid of other.workerPids()) {
    await page.getByRole('cell', { name: String(pid), exact: true }).waitFor();
  }
  expect(await page.getByRole('table', { name: 'Memory now' }).count()).toBe(0);
  await expectAccessible(tab);

  other.setConfig(`workers: 2\n${FAST_UPSTREAM}lisen: 1\n`);
  await page.goto(`${one.opsUrl}/#/nodes`);
  const reload = async () => {
    await page.getByRole('button', { name: 'Reload all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reload all nodes?' });
    await dialog.getByText('2 nodes').waitFor();
    await dialog.getByRole('button', { name: 'Reload' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await reload();
  const result = page.getByRole('table', { name: 'Result of the reload' });
  const resultOf = (id: string) => result.getByRole('row').filter({ hasText: short(id) });
  await page.getByText(`The reload ended at node ${short(there)}`).waitFor();
  await resultOf(there).getByText('lisen: unknown key').waitFor();
  await expectAccessible(tab);

  other.setConfig(`workers: 2\n${FAST_UPSTREAM}plans: {pro: 7, team: 1000000}\n`);
  await reload();
  await page.getByText('All nodes have taken over their settings.').waitFor();
  await page.getByText('The nodes do not have the same settings.').waitFor();
  await rowOf(there).getByText('differs').waitFor();
  await page.setViewportSize({ width: 360, height: 640 });
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await page.evaluate(widths)).toEqual([360, 360]);
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});

it('a node that dies is shown as gone, with when it was last heard', async () => {
  const { one, other, there } = await readNodes();
  const tab = await openTab({ colorScheme: 'dark' });
  await signIn(tab, one, '#/nodes');
  const { page } = tab;
  other.signal('SIGKILL');
  const nodes = page.getByRole('table', { name: 'All nodes on this Redis' });
  const row = nodes.getByRole('row').filter({ hasText: short(there) });
  await row.getByText(/^lost, heard \d+ s ago$/).waitFor();
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});
