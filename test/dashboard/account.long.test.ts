import { readFileSync } from 'node:fs';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectForgotten } from '../support/browser-secrets.ts';
import { admin } from '../support/clients/admin.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

async function askByLibrary(apiKey: string): Promise<void> {
  const baseURL = `${gateway().url}/v1`;
  const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
  const messages = [{ role: 'user' as const, content: 'Hello!' }];
  await client.chat.completions.create({ model: 'haiku', messages });
}

async function readDownload(page: Page, button: string): Promise<string[]> {
  const arriving = page.waitForEvent('download');
  await page.getByRole('button', { name: button }).click();
  const path = await (await arriving).path();
  return readFileSync(path, 'utf8').trimEnd().split('\n');
}

it('a key made here serves a client library, and what it used is in its usage and requests', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByText('This account has no key yet').waitFor();
  await page.getByText('Nothing was used in these days').first().waitFor();

  await page.getByRole('button', { name: 'Create a key' }).click();
  const form = page.getByRole('dialog', { name: 'Create a key of test' });
  await form.getByLabel('Name').fill('build server');
  await form.getByLabel('Models').fill('haiku, no-such-model');
  await form.getByLabel('Requests in a rate window').fill('0');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('no-such-model is no model of this gateway').waitFor();
  await form.getByText('must be a whole number from 1 to').waitFor();
  expect(await form.getByLabel('Models').getAttribute('aria-invalid')).toBe('true');
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('400')]);
  await form.getByLabel('Models').fill('haiku');
  await form.getByLabel('Requests in a rate window').fill('50');
  await expectAccessible(tab);
  await form.getByRole('button', { name: 'Create' }).click();

  const shown = page.getByRole('dialog', { name: /^New key: build server/ });
  await shown.getByText('This key is shown only now.').waitFor();
  await shown.getByRole('button', { name: 'Copy key' }).waitFor();
  const secret = (await shown.locator('code').textContent()) ?? '';
  await expectAccessible(tab);
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  await shown.waitFor({ state: 'detached' });
  await expectForgotten(tab, secret);
  const last4 = secret.slice(-4);
  await page.getByRole('link', { name: `build server (…${last4})` }).waitFor();

  await askByLibrary(secret);
  await askByLibrary(secret);
  await operator.waitUntilSettled(account);
  const models = page.getByRole('table', { name: 'Usage by model' });
  await models.getByRole('row', { name: /^llm-haiku-4\.5 .* 2 / }).waitFor();
  const keys = page.getByRole('table', { name: 'Usage by key' });
  await keys.getByRole('link', { name: 'build server' }).waitFor();
  await page
    .getByRole('img', { name: /^Credits by day and model, UTC\. llm-haiku-4\.5: / })
    .waitFor();
  const latest = page.getByRole('table', { name: 'Latest requests' });
  await latest.locator('[data-request]').nth(1).waitFor();
  expect(await latest.locator('[data-request]').count()).toBe(2);
  await expectAccessible(tab);

  const csv = await readDownload(page, 'Save as CSV');
  expect(csv[0]).toMatch(/^day,model,/);
  expect(csv).toHaveLength(2);
  const { balance } = await operator.account(account);
  const lines = await readDownload(page, 'Save the whole ledger as NDJSON');
  const parsed = lines.map((line) => JSON.parse(line) as { charged_micros: number });
  expect(parsed).toHaveLength(3);
  const micros = parsed.reduce((sum, { charged_micros: charged }) => sum - charged, 0);
  expect(micros / 1e6).toBe(balance);

  await page.getByRole('link', { name: 'All requests, with filters' }).click();
  await page.locator('[data-request]').nth(1).waitFor();
  // The field has the id of the account until its name is known.
  const field = page.getByRole('textbox', { name: 'Account' });
  await waitUntil(async () => (await field.inputValue()) === 'test', 'the account is named');
  expect(tab.errors).toEqual([]);
});

it('usage is shown for any range of days', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account);
  await askByLibrary(key);
  await operator.waitUntilSettled(account);
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByRole('table', { name: 'Usage by model' }).waitFor();
  await page.getByLabel('From', { exact: true }).fill('2026-01-01');
  await page.getByLabel('To', { exact: true }).fill('2026-01-31');
  await page.getByText('Nothing was used in these days').first().waitFor();
  await page.getByLabel('Days, UTC').selectOption('7');
  await page.getByRole('table', { name: 'Usage by model' }).waitFor();

  await page.getByLabel('Days, UTC').selectOption('90');
  await page.getByRole('button', { name: 'Show as table' }).click();
  const rows = page.getByRole('table', { name: 'Credits by day and model' }).getByRole('row');
  const headRows = 1;
  await waitUntil(async () => (await rows.count()) === 90 + headRows, 'no day is left out');
  const today = new Date();
  const daysAgo = (count: number) => new Date(today.getTime() - count * 86_400_000);
  await page.getByLabel('From', { exact: true }).fill(daysAgo(999).toISOString().slice(0, 10));
  await page.getByText('of the last 400 days. They leave out 600 earlier days').waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await waitUntil(async () => (await rows.count()) === 400 + headRows, 'the others are there');
  const years = [today, daysAgo(399)].map((day) => String(day.getUTCFullYear()));
  const texts = await rows.allTextContents();
  expect([texts[1], texts.at(-1)]).toEqual(years.map((year) => expect.stringContaining(year)));
  expect(tab.errors).toEqual([]);
});

it('the last days go on past midnight on a page that stays open', async () => {
  const account = await admin(gateway()).createAccount();
  const tab = await openTab();
  const { page } = tab;
  await page.clock.install();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  await page.getByText('Nothing was used in these days').first().waitFor();
  const last = page.getByLabel('To', { exact: true });
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const today = Date.parse(await last.inputValue());
  await page.clock.fastForward('24:00:00');
  await waitUntil(
    async () => (await last.inputValue()) === dayOf(today + 86_400_000),
    'the range has the next day',
  );
  expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe(
    dayOf(today - 28 * 86_400_000),
  );
  expect(await page.getByLabel('Days, UTC').inputValue()).toBe('30');
});

it('an account that is not there is told in the words of the node', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/accounts/acct_000000000000');
  await tab.page.getByRole('alert').filter({ hasText: 'acct_000000000000' }).waitFor();
  await tab.page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('404')]);
});
