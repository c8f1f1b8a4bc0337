import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

interface ListAnswer {
  readonly data: readonly { readonly id: string }[];
  readonly next: string | null;
}

const MODELS = ['llm-haiku-4.5', 'llm-sonnet-4.6'];

async function createAsker(name: string) {
  const operator = admin(gateway());
  const { id } = await operator.call<{ id: string }>('POST', '/accounts', { name, plan: 'team' });
  await operator.call('POST', `/accounts/${id}/credits`, { amount: 100, id: 'first', note: '' });
  const { id: keyId, key } = await operator.createKey(id, { name: `key of ${name}` });
  const ask = async (model = MODELS[0]) => {
    const { headers } = await askModel(gateway().url, key, messageOf('Hi', { model }));
    return headers.get('request-id') ?? '';
  };
  return { id, keyId, ask };
}

/** Waits until the books have so many requests of the account. */
async function waitForRequests(account: string, count: number): Promise<void> {
  await waitUntil(async () => {
    const path = `/requests?account=${account}&limit=1000`;
    const { data } = await admin(gateway()).call<ListAnswer>('GET', path);
    return data.length >= count;
  }, 'the books have the requests');
}

const rowsOf = (page: Page) => page.locator('[data-request]');
const idsOf = (page: Page) =>
  page.evaluate<string[]>(
    "Array.from(document.querySelectorAll('[data-request]'), (row) => row.dataset.request)",
  );

it('requests are found by filters, which stand in the address', async () => {
  const [acme, other] = [await createAsker('Acme Ltd'), await createAsker('Hilltop')];
  const first = await acme.ask();
  const second = await acme.ask(MODELS[1]);
  await other.ask();
  await waitForRequests(acme.id, 2);
  await waitForRequests(other.id, 1);

  const tab = await openTab();
  await signIn(tab, gateway(), '#/requests');
  const { page } = tab;
  await rowsOf(page).nth(2).waitFor();
  await page.getByText(/^As of \d\d:\d\d:\d\d$/).waitFor();
  const search = page.getByRole('combobox', { name: 'Account' });
  await search.fill('hill');
  await page.getByRole('option', { name: 'Hilltop' }).waitFor();
  let find = () => {};
  const isPressed = new Promise<void>((resolve) => {
    find = resolve;
  });
  await page.route(/search=acm/, (route) => isPressed.then(() => route.continue()));
  await search.fill('acm');
  // It takes none of the accounts that were found for the text before.
  await page.keyboard.press('Enter');
  find();
  await page.getByRole('option', { name: 'Acme Ltd' }).waitFor();
  await expectAccessible(tab);
  await page.keyboard.press('Enter');
  await page.getByText('Filters: 1 set').waitFor();
  await waitUntil(async () => (await rowsOf(page).count()) === 2, 'only two are left');
  expect(await idsOf(page)).toEqual([second, first]);
  const field = page.getByRole('textbox', { name: 'Account' });
  await waitUntil(async () => (await field.inputValue()) === 'Acme Ltd', 'the account is named');

  await page.getByLabel('Model').selectOption(MODELS[1] ?? '');
  await waitUntil(async () => (await rowsOf(page).count()) === 1, 'only one is left');
  const hash = `#/requests?account=${acme.id}&model=${MODELS[1]}`;
  expect(await page.evaluate('location.hash')).toBe(hash);
  await page.getByLabel('Key').selectOption({ index: 1 });
  await page.getByText('Filters: 3 set').waitFor();
  expect(await page.evaluate('location.hash')).toContain(`key=${acme.keyId}`);
  await page.getByLabel('Status').fill('5xx');
  await page.keyboard.press('Enter');
  await page.getByText('No request fits these filters').waitFor();
  expect(tab.errors).toEqual([]);

  // A link to the list shows the same to the next reader.
  const next = await openTab();
  await signIn(next, gateway(), hash);
  await rowsOf(next.page).first().waitFor();
  expect(await idsOf(next.page)).toEqual([second]);
  expect(await next.page.getByLabel('Model').inputValue()).toBe(MODELS[1]);
  await next.page.getByRole('button', { name: 'Clear filters' }).click();
  await rowsOf(next.page).nth(2).waitFor();
});

it('a filter that the node refuses is told beside it', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/requests?status=teapot');
  const { page } = tab;
  await page.locator('.field-error').filter({ hasText: 'must be a status such as 429' }).waitFor();
  expect(await page.getByLabel('Status').getAttribute('aria-invalid')).toBe('true');
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('400')]);
  await page.getByLabel('Status').fill('2xx');
  await page.keyboard.press('Enter');
  await page.locator('.field-error').waitFor({ state: 'detached' });
  expect(tab.errors).toEqual([]);
});

it('the list reads on at its end, until it has every request once', async () => {
  const { id, ask } = await createAsker('Many');
  for (let asked = 0; asked < 12; asked += 1)
    await Promise.all(Array.from({ length: 10 }, () => ask()));
  await waitForRequests(id, 120);
  const tab = await openTab();
  const { page } = tab;
  await signIn(tab, gateway(), `#/requests?account=${id}`);
  await rowsOf(page).first().waitFor();
  await waitUntil(async () => {
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    return (await rowsOf(page).count()) === 120;
  }, 'the list has all requests');
  expect(new Set(await idsOf(page)).size).toBe(120);
  expect(await page.getByRole('button', { name: 'Load more' }).count()).toBe(0);
  expect(tab.errors).toEqual([]);
});

it('a list that is live shows a new request by itself', async () => {
  const { id, ask } = await createAsker('Live');
  const first = await ask();
  await waitForRequests(id, 1);
  const tab = await openTab();
  await signIn(tab, gateway(), `#/requests?account=${id}`);
  const { page } = tab;
  await rowsOf(page).first().waitFor();
  await page.getByRole('checkbox', { name: 'Live' }).check();
  const second = await ask();
  await page.locator(`[data-request="${second}"]`).waitFor();
  expect(await idsOf(page)).toEqual([second, first]);
  await expectAccessible(tab);

  await page.getByRole('checkbox', { name: 'Live' }).uncheck();
  await page.getByRole('button', { name: 'Read again' }).waitFor();
  await waitUntil(async () => (await rowsOf(page).count()) === 2, 'the list was read again');
  expect(tab.errors).toEqual([]);
});

it('what is typed into a filter of a live list stays until it takes effect', async () => {
  const { id, ask } = await createAsker('Typing');
  await ask();
  await waitForRequests(id, 1);
  const tab = await openTab();
  await signIn(tab, gateway(), `#/requests?account=${id}`);
  const { page } = tab;
  await rowsOf(page).first().waitFor();
  await page.getByRole('checkbox', { name: 'Live' }).check();
  const status = page.getByLabel('Status');
  await status.pressSequentially('40');
  const isRead = (url: URL) => url.pathname.endsWith('/requests');
  // The list is rendered before it is read once more.
  for (let reads = 0; reads < 3; reads += 1) {
    await page.waitForResponse((response) => isRead(new URL(response.url())));
  }
  expect(await status.inputValue()).toBe('40');
  await status.pressSequentially('4');
  await page.keyboard.press('Enter');
  await page.getByText('No request fits these filters').waitFor();
  expect(await page.evaluate('location.hash')).toContain('status=404');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rowsOf(page).first().waitFor();
  expect(await status.inputValue()).toBe('');
  expect(tab.errors).toEqual([]);
});

it('a receipt opens beside the list, and the focus goes there and back', async () => {
  const { id, ask } = await createAsker('Beside');
  const request = await ask();
  await waitForRequests(id, 1);
  const tab = await openTab({ viewport: { width: 1_280, height: 800 } });
  await signIn(tab, gateway(), `#/requests?account=${id}`);
  const { page } = tab;
  await rowsOf(page).first().click();
  const receipt = page.getByRole('region', { name: `Receipt of ${request}` });
  await receipt.getByText('ended', { exact: true }).waitFor();
  await page.locator('h2:focus', { hasText: 'Receipt' }).waitFor();
  expect(await page.evaluate('location.hash')).toBe(`#/requests/${request}?account=${id}`);
  const [list, beside] = [
    await page.locator('.list-side').boundingBox(),
    await receipt.boundingBox(),
  ];
  expect(beside?.x).toBeGreaterThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
  await expectAccessible(tab);
  await receipt.getByRole('button', { name: 'Close' }).click();
  await page.locator(`[data-request="${request}"]:focus`).waitFor();
  expect(await page.evaluate('location.hash')).toBe(`#/requests?account=${id}`);
  expect(tab.errors).toEqual([]);
});

it.each(['light', 'dark'] as const)('on a phone requests are cards (%s)', async (colorScheme) => {
  const { id, ask } = await createAsker('Phone');
  const request = await ask();
  await waitForRequests(id, 1);
  const tab = await openTab({ viewport: { width: 390, height: 844 }, colorScheme });
  await signIn(tab, gateway(), `#/requests?account=${id}`);
  const { page } = tab;
  await page.locator('.cards [data-request]').first().waitFor();
  // Screen readers still find a table.
  const row = page
    .getByRole('table', { name: 'Requests, the newest first' })
    .getByRole('row')
    .nth(1);
  await row.getByRole('cell', { name: 'Phone' }).waitFor();
  await expectAccessible(tab);
  await rowsOf(page).first().click();
  const receipt = page.getByRole('region', { name: `Receipt of ${request}` });
  await receipt.getByText('ended', { exact: true }).waitFor();
  await expectAccessible(tab);
  const [list, below] = [
    await page.locator('.list-side').boundingBox(),
    await receipt.boundingBox(),
  ];
  expect(below?.y).toBeGreaterThanOrEqual((list?.y ?? 0) + (list?.height ?? 0));
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await page.evaluate(widths)).toEqual([390, 390]);
  expect(tab.errors).toEqual([]);
});

it('a list that cannot be read says why, and is read again on demand', async () => {
  const tab = await openTab();
  const { page } = tab;
  await page.route('**/admin/v1/requests?*', (route) => route.abort(), { times: 1 });
  await signIn(tab, gateway(), '#/requests');
  await page.getByRole('alert').filter({ hasText: 'the node cannot be reached' }).waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await rowsOf(page).first().waitFor();
  expect(tab.errors).toEqual([]);
});
