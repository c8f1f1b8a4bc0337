import { readFileSync } from 'node:fs';
import type { BrowserContextOptions } from 'playwright-core';
import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_UPSTREAM, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const model = (id: string) =>
  `  - {id: ${id}, max_output_tokens: 8000, price: {input: 0, output: 10}, routes: [{upstream: simulated}]}\n`;
const gateway = useGateway({
  config: `workers: 1\n${FAST_UPSTREAM}models:\n${model('large')}${model('small')}`,
});
const openTab = useBrowser();

it('a payment is on the page that it was entered on', async () => {
  const account = await admin(gateway()).createAccount({ credits: 0 });
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByText('Nothing was paid in this month').waitFor();
  const payments = page.getByRole('table', { name: 'Payments' });
  const rows = payments.getByRole('row').filter({ has: page.getByRole('cell') });
  for (const [note, balance, count] of [
    ['by transfer', '12.5', 1],
    ['by card', '25', 2],
  ] as const) {
    await page.getByRole('button', { name: 'Top up' }).click();
    const dialog = page.getByRole('dialog', { name: 'Top up test' });
    await dialog.getByLabel('Credits').fill('12.5');
    await dialog.getByLabel('Note').fill(note);
    await dialog.getByRole('button', { name: 'Enter payment' }).click();
    await rows.nth(count - 1).waitFor();
    expect(await rows.first().textContent()).toMatch(
      new RegExp(`topupdashboard-\\w+${note}12\\.5${balance.replace('.', '\\.')}$`),
    );
  }
  const figure = page.locator('.figures div', { hasText: 'Balance so far' });
  await figure.locator('dd').filter({ hasText: /^25$/ }).waitFor();
  expect(tab.errors).toEqual([]);
});

it('the statement of a month opens, can be printed, and is saved as a file', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const { key } = await operator.createKey(account, { name: 'nightly' });
  const body = messageOf('[[tokens 100]]', { model: 'small', max_tokens: 1_000 });
  expect((await askModel(gateway().url, key, body)).status).toBe(200);
  await operator.waitUntilSettled(account);
  const { balance } = await operator.account(account);
  const tab = await openTab({ viewport: { width: 390, height: 844 } });
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  const figure = (name: string) => page.locator('.figures div', { hasText: name }).locator('dd');
  await waitUntil(
    async () => (await figure('Balance so far').textContent()) === String(balance),
    'the books have the request',
  );
  await page.getByRole('table', { name: 'Statements' }).getByRole('link').first().click();
  await page.getByRole('heading', { name: /^test: statement of \w+ \d{4}$/, level: 1 }).waitFor();
  expect(await figure('Opening balance').textContent()).toBe('0');
  expect(await figure('Paid in').textContent()).toBe('10');
  expect(await figure('Balance so far').textContent()).toBe(String(balance));
  await page.getByRole('table', { name: 'Charged by model' }).getByText('small').waitFor();
  await page.getByRole('table', { name: 'Charged by key' }).getByText('nightly').waitFor();
  await expectAccessible(tab);

  for (const [button, name, content] of [
    ['Save as CSV', /^statement-.*\.csv$/, 'nightly'],
    ['Save as a page', /^statement-.*\.html$/, '<html'],
  ] as const) {
    const arriving = page.waitForEvent('download');
    await page.getByRole('button', { name: button }).click();
    const download = await arriving;
    expect(download.suggestedFilename()).toMatch(name);
    expect(readFileSync(await download.path(), 'utf8')).toContain(content);
  }
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
  expect(await page.getByRole('navigation').isVisible()).toBe(false);
  expect(await page.getByRole('table', { name: 'Payments' }).isVisible()).toBe(true);
  expect(tab.errors).toEqual([]);
});

it('shares of usage are shares of all that was used', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account);
  for (const [name, tokens] of [
    ['large', 300],
    ['small', 100],
  ] as const) {
    const body = messageOf(`[[tokens ${tokens}]]`, { model: name, max_tokens: 1_000 });
    expect((await askModel(gateway().url, key, body)).status).toBe(200);
  }
  await operator.waitUntilSettled(account);
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const models = tab.page.getByRole('table', { name: 'Usage by model' });
  for (const [name, share] of [
    ['large', 0.75],
    ['small', 0.25],
  ] as const) {
    const row = models.getByRole('row').filter({ hasText: name });
    await row.getByText(`${share * 100}%`).waitFor();
    const meter = row.locator('meter');
    expect(await meter.getAttribute('max')).toBe('1');
    expect(await meter.getAttribute('value')).toBe(String(share));
  }
  const keys = tab.page.getByRole('table', { name: 'Usage by key' });
  await keys.getByText('100%').waitFor();
});

const payment = (time: string, id: string) => ({
  ...{ time, id, kind: 'topup', amount: 10, note: null, balance: 10 },
});

/** Opens a statement of an account, some fields of which are others than the node says. */
async function openStatement(options: BrowserContextOptions, changed: object) {
  const account = await admin(gateway()).createAccount({ credits: 10 });
  const tab = await openTab(options);
  const { page } = tab;
  await page.clock.install();
  await page.route(
    (url) => url.pathname.includes('/statements/'),
    async (route) => {
      const response = await route.fetch();
      const now = { books_until: new Date().toISOString() };
      await route.fulfill({ response, json: { ...(await response.json()), ...now, ...changed } });
    },
  );
  const month = new Date().toISOString().slice(0, 7);
  await signIn(tab, gateway(), `#/accounts/${account}/statements/${month}`);
  await page.locator('.as-of').waitFor();
  return page;
}

it('times of a statement are in UTC, as its months are, wherever it is read', async () => {
  const page = await openStatement(
    { timezoneId: 'Europe/Berlin' },
    {
      payments: [payment('2026-10-31T23:30:00.000Z', 'late')],
      books_until: '2026-10-31T23:45:00.000Z',
    },
  );
  const payments = page.getByRole('table', { name: 'Payments' });
  await payments.getByRole('columnheader', { name: 'Time, UTC' }).waitFor();
  await payments.getByText('31 Oct 2026, 23:30:00').waitFor();
  await page.getByText('As of 31 Oct 2026, 23:45:00 UTC').waitFor();
});

it('a statement from whose month entries were lost says so, in print as well', async () => {
  const page = await openStatement({}, { incomplete: { gaps: 1, damaged_lines: 0 } });
  const notice = page.getByText(/^Entries were lost: .* may be missing\.$/);
  await notice.waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await notice.isVisible()).toBe(true);
});

it('a page that stays open says when it was read, and not that the books are behind', async () => {
  const page = await openStatement({}, {});
  expect(await page.locator('.as-of').textContent()).toMatch(/^As of /);
  await page.clock.fastForward('05:00');
  await page.getByText('Read 5 min ago.').waitFor();
  expect(await page.getByText('behind').count()).toBe(0);
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByText('Read 5 min ago.').isVisible()).toBe(false);
  expect(await page.getByText(/^As of /).isVisible()).toBe(true);
});

it('books that were behind when they were read are told of, but not in print', async () => {
  const minutes = 60_000;
  const page = await openStatement(
    {},
    { books_until: new Date(Date.now() - 10.5 * minutes).toISOString() },
  );
  await page.getByText('The books are 10 min behind.').waitFor();
  await page.emulateMedia({ media: 'print' });
  expect(await page.getByText('The books are 10 min behind.').isVisible()).toBe(false);
});

it('how late the books are does not depend on the clock of the browser', async () => {
  const account = await admin(gateway()).createAccount();
  await admin(gateway()).waitForBooks();
  const tab = await openTab();
  const { page } = tab;
  await page.clock.install({ time: Date.now() + 3_600_000 });
  await signIn(tab, gateway(), `#/accounts/${account}`);
  await page
    .getByText(/^As of /)
    .first()
    .waitFor();
  expect(await page.getByText('behind').count()).toBe(0);
});
