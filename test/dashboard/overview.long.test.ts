import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

it('traffic of a client library arrives in the charts, with its refusals by reason', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  const chart = (title: string) => page.getByRole('img', { name: new RegExp(`^${title}\\.`) });
  await page.getByLabel('Charts of').selectOption('the last five minutes');
  await page.getByRole('img', { name: /requests: 0 now, at most 0;/ }).waitFor();

  const client = new OpenAI({
    apiKey: gateway().key(),
    baseURL: `${gateway().url}/v1`,
    maxRetries: 0,
  });
  const request = {
    model: 'llm-haiku-4.5',
    messages: [{ role: 'user' as const, content: 'Hello!' }],
  };
  await client.chat.completions.create(request);
  for await (const _ of await client.chat.completions.create({ ...request, stream: true })) {
    // Reads the answer to its end.
  }
  await expect(
    client.chat.completions.create({ ...request, model: 'no-such-model' }),
  ).rejects.toMatchObject({ status: 404 });

  await page.getByRole('img', { name: /requests: .* at most [1-3];/ }).waitFor();
  await page.getByRole('img', { name: /streams: .* at most 1;/ }).waitFor();
  await page.getByRole('img', { name: /refused: .* at most 1$/ }).waitFor();
  expect(await chart('Latency').getAttribute('aria-label')).toMatch(
    /half within: .* at most [\d.]+ m?s; .*99 % within: .* at most [\d.]+ m?s$/,
  );
  await page
    .getByRole('img', { name: /^Time to the first event\. half within: [\d–].* at most \d/ })
    .waitFor();
  const refusals = page.getByRole('table', { name: 'Refusals by reason, of the last five' });
  await refusals.getByRole('row', { name: 'unknown model 1' }).waitFor();

  const figures = page.locator('.figures div', { hasText: 'Credits a minute' });
  await waitUntil(async () => {
    const { total } = await admin(gateway()).call<{ total: { charged: number } }>('GET', '/usage');
    const shown = Number(await figures.locator('dd').textContent());
    const secondsSeen = (total.charged / shown) * 60;
    return shown > 0 && secondsSeen > 9.5 && secondsSeen < 60.5;
  }, 'the credits are those of the ledger, over the seconds that were seen');

  const figure = page.getByRole('figure', { name: 'Requests a second' });
  await figure.getByRole('button', { name: 'Show as table' }).click();
  const table = figure.getByRole('table', { name: 'Requests a second' });
  expect(await table.getByRole('columnheader').allTextContents()).toEqual([
    ...['Time', 'requests', 'streams', 'refused'],
  ]);
  expect(tab.errors).toEqual([]);
});

it('the last 24 hours come from the books, with the accounts that were charged most', async () => {
  const operator = admin(gateway());
  const { id } = await operator.call<{ id: string }>('POST', '/accounts', {
    ...{ name: 'Big Spender', plan: 'team' },
  });
  await operator.call('POST', `/accounts/${id}/credits`, { amount: 10, id: 'first', note: '' });
  const { key } = await operator.createKey(id);
  const body = messageOf('[[tokens 90]]');
  expect((await askModel(gateway().url, key, body)).status).toBe(200);
  expect((await askModel(gateway().url, key, { ...body, model: 'none' })).status).toBe(404);
  await operator.waitUntilSettled(id);
  const total = async () =>
    (await operator.call<{ total: { requests: number } }>('GET', `/usage?account=${id}`)).total;
  await waitUntil(async () => (await total()).requests === 1, 'the books have the request');
  const refused = async () => (await operator.call<{ total: number }>('GET', '/refusals')).total;
  await waitUntil(async () => (await refused()) > 0, 'the books have the refusal');

  const tab = await openTab({ colorScheme: 'dark' });
  await signIn(tab, gateway());
  const { page } = tab;
  const accounts = page.getByRole('table', { name: 'Accounts that were charged most' });
  const link = accounts.getByRole('link', { name: 'Big Spender' });
  expect(await link.getAttribute('href')).toBe(`#/accounts/${id}`);
  const refusals = page.getByRole('table', { name: 'Refusals of the last 24 hours' });
  await refusals.getByRole('row', { name: /^unknown model \d+$/ }).waitFor();
  const figure = (name: string) => page.locator('.figures div', { hasText: name }).locator('dd');
  await figure('Credits charged').filter({ hasText: /[1-9]/ }).waitFor();
  // More of them may have arrived in the books since the page read them.
  await figure('Refused').filter({ hasText: /[1-9]/ }).waitFor();
  const shown = Number(await figure('Refused').textContent());
  expect(shown).toBeLessThanOrEqual(await refused());
  await page
    .getByText(/^As of \d\d:\d\d:\d\d$/)
    .first()
    .waitFor();
  await page
    .getByRole('img', { name: /^Credits by day and model, UTC\. llm-haiku-4\.5: [\d.]+ in all/ })
    .waitFor();
  await expectAccessible(tab);
  const figureOfSpend = page.getByRole('figure', { name: 'Credits by day and model' });
  await figureOfSpend.getByRole('button', { name: 'Show as table' }).click();
  await figureOfSpend.getByRole('columnheader', { name: 'llm-haiku-4.5' }).waitFor();
  expect(tab.errors).toEqual([]);
});

it('books that are behind are told of', async () => {
  const tab = await openTab();
  const { page } = tab;
  const lateIso = new Date(Date.now() - 185_000).toISOString();
  await page.route('**/admin/v1/usage?*', async (route) => {
    const response = await route.fetch();
    const answer = (await response.json()) as object;
    await route.fulfill({ response, json: { ...answer, books_until: lateIso } });
  });
  await signIn(tab, gateway());
  await page.getByRole('status').filter({ hasText: 'The books are 3 min behind.' }).waitFor();
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});

it('upstreams, Redis, the node and its workers are shown as they are', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  const all = page.getByRole('table', { name: 'Upstreams, and how many nodes' });
  await all.getByRole('row', { name: 'simulated closed on 1 node' }).waitFor();
  await page.getByText("up on 1 node, the node's own").waitFor();
  const node = gateway().nodeId();
  await page.getByLabel('Show', { exact: true }).selectOption(node);
  const upstreams = page.getByRole('table', { name: 'Upstreams as' });
  await upstreams.getByRole('row', { name: /^simulated simulated closed 0 \d+$/ }).waitFor();
  const [pid = 0] = gateway().workerPids();
  const workers = page.getByRole('table', { name: 'Workers of this node' });
  await workers.getByRole('row', { name: new RegExp(`^1 ${pid} listening `) }).waitFor();

  process.kill(pid, 'SIGKILL');
  await workers.getByRole('row', { name: new RegExp(`^1 (?!${pid} )\\d+ listening `) }).waitFor();
});
