import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

it('traffic of a client library arrives in the charts, with its refusals by reason', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  const chart = (title: string) => page.getByRole('img', { name: new RegExp(`^${title}\\.`) });
  // The charts can only show what happens from now on.
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
  const refusals = page.getByRole('table', { name: 'Refusals by reason' });
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

it('upstreams, Redis, the node and its workers are shown as they are', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  const upstreams = page.getByRole('table', { name: 'Upstreams as' });
  await upstreams.getByRole('row', { name: /^simulated simulated closed 0 \d+$/ }).waitFor();
  await page.getByText('up embedded').waitFor();
  const [pid = 0] = gateway().workerPids();
  const workers = page.getByRole('table', { name: 'Workers of this node' });
  await workers.getByRole('row', { name: new RegExp(`^1 ${pid} listening `) }).waitFor();

  process.kill(pid, 'SIGKILL');
  await workers.getByRole('row', { name: new RegExp(`^1 (?!${pid} )\\d+ listening `) }).waitFor();
});
