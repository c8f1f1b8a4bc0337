import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { messageOf, openStream } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Receipt {
  readonly account: string;
  readonly key: string;
  readonly key_name: string | null;
  readonly charged: number;
}

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

it('a request of a client library is found by its id, with what it cost and its phases', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account, { name: 'library' });
  const client = new OpenAI({ apiKey: key, baseURL: `${gateway().url}/v1` });
  const { data, request_id: id } = await client.chat.completions
    .create({ model: 'llm-haiku-4.5', messages: [{ role: 'user', content: '[[tokens 40]]' }] })
    .withResponse();
  const read = () => operator.call<Receipt>('GET', `/requests/${id}`);
  await waitUntil(
    async () => (await read().catch(() => undefined))?.key_name === 'library',
    'the books have the request and its names',
  );
  const tab = await openTab();
  await signIn(tab, gateway(), '#/requests');
  const { page } = tab;
  await page.getByLabel('Request id').fill(` ${id} `);
  await page.getByRole('button', { name: 'Find' }).click();
  const shown = page.getByRole('region', { name: `Receipt of ${id}` });
  await shown.getByText('ended', { exact: true }).waitFor();

  const receipt = await read();
  const facts = shown.locator('.facts');
  const fact = (name: string) => facts.locator('div', { hasText: name }).locator('dd');
  expect(await fact('Charged').first().textContent()).toBe(`${receipt.charged} credits`);
  expect(await fact('Model').textContent()).toBe('llm-haiku-4.5');
  expect(await fact('Outcome').textContent()).toBe('complete');
  expect(await fact('Format').textContent()).toBe('chat, whole');
  const phases = page.getByRole('table', { name: 'Phases' }).getByRole('row');
  const names = ['Phase', 'Body', 'Admission', 'Until the first event', 'Until the end'];
  expect(await phases.locator(':is(td, th):first-child').allTextContents()).toEqual(names);
  const tries = page.getByRole('table', { name: 'Upstreams that were tried' });
  await tries.getByRole('row', { name: '1 simulated ok' }).waitFor();
  const tokens = page.getByRole('table', { name: 'Tokens' });
  await tokens.getByRole('row', { name: `Input ${data.usage?.prompt_tokens} 1` }).waitFor();
  await tokens.getByRole('row', { name: 'Output 40 5' }).waitFor();
  await page
    .getByRole('table', { name: 'Entries' })
    .getByRole('cell', { name: 'charge' })
    .waitFor();
  await expectAccessible(tab);

  expect(await fact('Account').getByRole('link', { name: 'test' }).getAttribute('href')).toBe(
    `#/accounts/${receipt.account}`,
  );
  await fact('Key').getByRole('link').click();
  await page.getByRole('heading', { name: /^library /, level: 1 }).waitFor();
  await page.getByText(receipt.key, { exact: true }).waitFor();
  expect(tab.errors).toEqual([]);
});

it('a request that runs is shown with what it holds, and when it has ended with its charge', async () => {
  const body = messageOf('[[tokens 90]] [[slow 60000]]');
  const stream = await openStream(gateway().url, gateway().key(), body);
  const tab = await openTab({ viewport: { width: 360, height: 640 }, colorScheme: 'dark' });
  await signIn(tab, gateway(), `#/requests/${stream.requestId}`);
  const { page } = tab;
  await page.getByText('running', { exact: true }).waitFor();
  await page.getByText('Held').waitFor();
  expect(await page.getByText('Charged', { exact: true }).count()).toBe(0);
  stream.leave();
  await page.getByText('ended', { exact: true }).waitFor();
  await page.locator('.facts div', { hasText: 'Outcome' }).getByText('left').waitFor();
  await page.getByRole('table', { name: 'Phases' }).waitFor();
  await expectAccessible(tab);
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await page.evaluate(widths)).toEqual([360, 360]);
  expect(tab.errors).toEqual([]);
});

it('an id that the books do not know is told so in words', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/requests/req_unknown');
  const { page } = tab;
  await page.getByRole('alert').filter({ hasText: 'no such request' }).waitFor();
  expect(await page.getByLabel('Request id').inputValue()).toBe('req_unknown');
  expect(tab.errors).toEqual([expect.stringContaining('404')]);
});
