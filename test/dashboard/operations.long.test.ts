import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf, openStream } from '../support/clients/ask-model.ts';
import {
  expectAccessible,
  signIn,
  type Tab,
  useBrowser,
} from '../support/servers/start-browser.ts';
import { useGateway } from '../support/use-gateway.ts';

/** Nothing listens on this port. */
const BROKEN_URL = 'http://127.0.0.1:1';
const CONFIG = `workers: 1
upstreams:
  - {name: practice, kind: simulated, max_concurrency: 9, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: spare, kind: native, url: "${BROKEN_URL}"}
models:
  - id: llm-tiny-1.0
    aliases: [tiny, small]
    context_length: 9000
    beta_context_length: 90000
    max_output_tokens: 500
    price: {input: 4, output: 8}
    routes: [{upstream: practice, weight: 3}]
  - id: llm-lost-1.0
    context_length: 8000
    max_output_tokens: 400
    price: {input: 1, output: 2}
    routes: [{upstream: spare, priority: 2}]
`;
const PAGE_ROWS = 50;

const gateway = useGateway({ config: CONFIG });
const openTab = useBrowser();

async function expectSound(tab: Tab): Promise<void> {
  await expectAccessible(tab);
  await tab.page.setViewportSize({ width: 360, height: 640 });
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await tab.page.evaluate(widths)).toEqual([360, 360]);
  expect(tab.errors).toEqual([]);
}

it('upstreams are shown live: health, requests in flight, tries and their results', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/upstreams');
  const { page } = tab;
  const routes = page.getByRole('table', { name: 'Routes to practice' });
  await routes.getByRole('row', { name: 'llm-tiny-1.0 1 3' }).waitFor();
  const [pid = 0] = gateway().workerPids();
  const workers = (upstream: string) => page.getByRole('table', { name: `Workers at ${upstream}` });
  await workers('practice')
    .getByRole('row', { name: `1 ${pid} closed – 0 9` })
    .waitFor();
  await workers('spare')
    .getByRole('row', { name: `1 ${pid} closed – 0` })
    .waitFor();
  await page.getByText('Nothing was asked of it yet').first().waitFor();

  const { url, key } = gateway();
  const slow = messageOf('[[slow 60000]]', { model: 'tiny' });
  const stream = await openStream(url, key(), slow);
  await page.getByText('1 of 9', { exact: true }).waitFor();
  await workers('practice')
    .getByRole('row', { name: `1 ${pid} closed – 1 9` })
    .waitFor();
  stream.leave();
  await page.getByText('0 of 9', { exact: true }).waitFor();
  const results = (upstream: string) => page.getByRole('table', { name: `Tries of ${upstream}` });
  await results('practice').getByRole('row', { name: 'left 1' }).waitFor();

  for (let asked = 0; asked < 3; asked += 1) {
    expect(
      (await askModel(url, key(), messageOf('Hi', { model: 'llm-lost-1.0' }))).status,
    ).not.toBe(200);
  }
  const spare = workers('spare').getByRole('row', { name: new RegExp(`^1 ${pid} (half-)?open `) });
  await spare.waitFor();
  await results('spare')
    .getByRole('row', { name: /^unreachable [1-9]/ })
    .waitFor();
  await expectSound(tab);
});

it('a catalogue that the settings file rules is shown, and cannot be changed', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/catalogue');
  const { page } = tab;
  const models = page.getByRole('table', { name: 'Models, their windows' });
  await models
    .getByRole('row', {
      name: 'llm-tiny-1.0 tiny, small 9,000 90,000 500 practice, priority 1, weight 3',
    })
    .waitFor();
  await models.getByRole('row', { name: 'llm-lost-1.0 – 8,000 – 400 spare, priority 2' }).waitFor();
  const prices = page.getByRole('table', { name: 'Prices in credits' });
  await prices.getByRole('row', { name: 'llm-tiny-1.0 4 8 0.4 5 8' }).waitFor();
  const plans = page.getByRole('table', { name: 'Requests of an account in a rate window' });
  await plans.getByRole('row', { name: 'starter 60' }).waitFor();
  await page.getByText('The settings file rules what is sold').waitFor();
  const buttons = page.getByRole('main').getByRole('button');
  expect(await buttons.count()).toBe(0);
  await expectSound(tab);
});

it('the audit log shows what was changed, page by page, and that of one account or key alone', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ plan: 'pro', credits: 12.5 });
  const { id } = await operator.createKey(account, { name: 'build server', rpm: 60 });
  await operator.setKey(id, { rpm: 90, models: ['tiny'] });
  const other = await operator.createAccount({ credits: 0 });
  const renamed = Array.from({ length: PAGE_ROWS }, (_, number) => `name ${number}`);
  for (const name of renamed) await operator.call('PATCH', `/accounts/${other}`, { name });

  const tab = await openTab();
  await signIn(tab, gateway(), '#/audit');
  const { page } = tab;
  const table = page.getByRole('table', { name: 'What operators changed' });
  const rows = table.locator('tbody').getByRole('row');
  const shown = (count: number) => rows.nth(count - 1).waitFor();
  await shown(PAGE_ROWS);
  expect(await rows.count()).toBe(PAGE_ROWS);
  expect(await rows.first().textContent()).toContain('name: name 48 → name 49');
  await page.getByRole('button', { name: 'Load more' }).click();
  await shown(PAGE_ROWS + 4);
  await page.getByRole('button', { name: 'Load more' }).waitFor({ state: 'detached' });

  await page.getByLabel('Account id').fill(account);
  await page.getByRole('button', { name: 'Filter' }).click();
  await rows.nth(4).waitFor({ state: 'detached' });
  await shown(4);
  expect(await rows.locator('td:nth-child(2)').allTextContents()).toEqual([
    ...['key.set', 'key.create', 'credits.add', 'account.create'],
  ]);
  const [set, created] = [rows.nth(0), rows.nth(1)];
  expect(await set.locator('li').allTextContents()).toEqual(
    expect.arrayContaining(['rpm: 60 → 90', 'models: ["tiny"]']),
  );
  expect(await rows.nth(2).locator('td:nth-child(3)').textContent()).toContain('balance: 0 → 12.5');
  await created.getByText(/^\d+ fields$/).click();
  await created.getByText('build server').waitFor();

  await page.getByLabel('Key id').fill(id);
  await page.getByRole('button', { name: 'Filter' }).click();
  await rows.nth(2).waitFor({ state: 'detached' });
  await shown(2);
  expect(await rows.count()).toBe(2);
  expect(await set.getByRole('link', { name: id }).getAttribute('href')).toBe(`#/keys/${id}`);
  await expectSound(tab);

  await page.getByLabel('Key id').fill('nobody');
  await page.getByRole('button', { name: 'Filter' }).click();
  await page.getByText('Nothing was changed').waitFor();
});

it('the node is shown with its workers, settings, Redis, memory and lag', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/nodes');
  const { page } = tab;
  await page.getByRole('table', { name: 'All nodes' }).getByRole('link').click();
  const { node } = await admin(gateway()).call<{
    node: { id: string; version: string; config: { path: string; version: string } };
  }>('GET', '/cluster');
  for (const text of [node.id, node.version, node.config.version, node.config.path]) {
    await page.locator('.facts').getByText(text, { exact: true }).waitFor();
  }
  await page.getByText("the node's own").waitFor();
  await page.locator('.facts').last().getByText('up', { exact: true }).waitFor();
  const [pid = 0] = gateway().workerPids();
  const workers = page.getByRole('table', { name: 'Workers of this node' });
  await workers.getByRole('row', { name: `1 ${pid} listening` }).waitFor();
  const memory = page.getByRole('table', { name: 'Memory now' });
  for (const process of ['primary', 'worker']) {
    const figures = /^\w+ [\d.]+ MiB [\d.]+ MiB [\d.]+ MiB [\d.]+ m?s ([\d.]+ m?s|–)$/;
    await memory.getByRole('row', { name: figures }).filter({ hasText: process }).waitFor();
  }
  await expectSound(tab);
});
