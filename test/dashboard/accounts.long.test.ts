import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';
import { waitUntil } from '../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

it('an account is created, and a wrong field is told beside it', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/accounts');
  const { page } = tab;
  await page.getByRole('button', { name: 'Create an account' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create an account' });
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('must be text of 1 to 100 characters').waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('400')]);
  await dialog.getByLabel('Name').fill('Acme Ltd');
  await dialog.getByLabel('Plan').selectOption('business');
  await expectAccessible(tab);
  await dialog.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('heading', { name: 'Acme Ltd', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1) ?? '';
  expect(await admin(gateway()).account(id)).toMatchObject({ name: 'Acme Ltd', plan: 'business' });
  expect(tab.errors).toEqual([]);
});

it('accounts are listed, searched by words of their name or by id, and fit a phone', async () => {
  const operator = admin(gateway());
  const create = async (name: string) => {
    const body = { name, plan: 'pro' };
    return (await operator.call<{ id: string }>('POST', '/accounts', body)).id;
  };
  const north = await create('North Pole Bakery');
  const south = await create('South Pole Bakery');
  await operator.call('POST', `/accounts/${north}/credits`, { amount: 7.25, id: 'a', note: '' });
  const searched = async () =>
    (await operator.call<{ data: object[] }>('GET', '/accounts?search=pole')).data;
  await waitUntil(async () => (await searched()).length === 2, 'the books know both names');
  const tab = await openTab({ viewport: { width: 360, height: 640 } });
  await signIn(tab, gateway(), '#/accounts');
  const { page } = tab;
  await page.getByRole('row', { name: /^demo / }).waitFor();
  const search = async (text: string) => {
    await page.getByRole('searchbox', { name: 'Name or id' }).fill(text);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('table', { name: `Accounts found by “${text}”` }).waitFor();
    return page.getByRole('row').filter({ has: page.getByRole('cell') });
  };
  const found = await search('pole BAK');
  await waitUntil(async () => (await found.count()) === 2, 'both are found');
  await found.filter({ hasText: 'North' }).getByText('7.25').waitFor();
  const one = await search(south);
  await waitUntil(async () => (await one.count()) === 1, 'one is found');
  await one.getByText('South Pole Bakery').waitFor();
  const widths = await page.evaluate(
    '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
  );
  expect(widths).toEqual([360, 360]);
  await expectAccessible(tab);
  await page.getByRole('searchbox', { name: 'Name or id' }).fill('nobody');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No account has such a name or this id').waitFor();
  expect(tab.errors).toEqual([]);
});

it('accounts of before never stand under the name of the next search', async () => {
  const tab = await openTab();
  await signIn(tab, gateway(), '#/accounts');
  const { page } = tab;
  await page.getByRole('row', { name: /^demo / }).waitFor();
  await page.evaluate(`
    globalThis.captions = [];
    const note = () => captions.push(document.querySelector('caption')?.textContent ?? 'no table');
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true });
    new MutationObserver(note).observe(document.querySelector('caption'), { characterData: true, subtree: true });
  `);
  await page.getByRole('searchbox', { name: 'Name or id' }).fill('nobody');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No account has such a name or this id').waitFor();
  const captions = new Set(await page.evaluate<string[]>('captions'));
  captions.delete('Accounts');
  expect(captions).toEqual(new Set(['no table']));
});

it('who tops up again because no answer came pays once', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 0 });
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Top up' }).click();
  const dialog = page.getByRole('dialog', { name: 'Top up test' });
  await dialog.getByLabel('Credits').fill('ten');
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await dialog.getByText('ten is not a number such as 25 or 0.5').waitFor();

  await dialog.getByLabel('Credits').fill('12.5');
  await page.route(
    '**/credits',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'the node cannot be reached' }).waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('ERR_FAILED')]);
  expect(await operator.account(account)).toMatchObject({ balance: 12.5 });
  await expectAccessible(tab);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Top up' }).click();
  await dialog.getByLabel('Credits').fill('12.5');
  const paymentId = await dialog.getByLabel('Payment id').inputValue();
  await dialog.getByLabel('Payment id').fill(`${paymentId} `);
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await page.getByText(/was entered before: the balance is 12\.5 credits/).waitFor();
  expect(await operator.account(account)).toMatchObject({ balance: 12.5 });

  // Another dialog makes another payment.
  await page.getByRole('button', { name: 'Top up' }).click();
  await dialog.getByLabel('Credits').fill('-20');
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await dialog
    .getByRole('alert')
    .filter({ hasText: /credits/ })
    .waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('409')]);
  await dialog.getByLabel('Credits').fill('0.000001');
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await page.getByText(/of 0\.000001 is entered: the balance is 12\.500001 credits/).waitFor();
  expect(tab.errors).toEqual([]);
});

it('a dialog stays open while its change runs, so that its end is seen', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let noteSent = () => {};
  const sent = new Promise<void>((resolve) => {
    noteSent = resolve;
  });
  await page.route(
    '**/credits',
    async (route) => {
      noteSent();
      await held;
      await route.abort();
    },
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Top up' }).click();
  const dialog = page.getByRole('dialog', { name: 'Top up test' });
  await dialog.getByLabel('Credits').fill('3');
  await dialog.getByRole('button', { name: 'Enter payment' }).click();
  await sent;
  expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  release();
  await dialog.getByRole('alert').filter({ hasText: 'the node cannot be reached' }).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(tab.errors).toEqual([expect.stringContaining('ERR_FAILED')]);
});

it('a suspended account is refused until it is resumed', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const { key } = await operator.createKey(account);
  const ask = async () => (await askModel(gateway().url, key, messageOf('Hi'))).status;
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Suspend' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suspend this account?' });
  await dialog.getByText(`test (${account})`).waitFor();
  await dialog.getByRole('button', { name: 'Suspend' }).click();
  await page.getByText('suspended', { exact: true }).waitFor();
  expect(await ask()).toBe(403);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('suspended', { exact: true }).waitFor({ state: 'detached' });
  expect(await ask()).toBe(200);

  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const edit = page.getByRole('dialog', { name: 'Edit test' });
  await edit.getByLabel('Name').fill('tested');
  await edit.getByLabel('Plan').selectOption('starter');
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'tested', level: 1 }).waitFor();
  expect(await operator.account(account)).toMatchObject({ name: 'tested', plan: 'starter' });
  expect(tab.errors).toEqual([]);
});

it('the form of an account sends only what was changed in it, whatever others changed meanwhile', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = page.getByRole('dialog', { name: 'Edit test' });
  await form.getByLabel('Name').fill('Acme Ltd');
  await operator.call('PATCH', `/accounts/${account}`, { plan: 'business', low_balance: 5 });
  await page.locator('.facts div', { hasText: 'Plan' }).getByText('business').waitFor();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await operator.account(account)).toMatchObject({
    ...{ name: 'Acme Ltd', plan: 'business', low_balance: 5 },
  });
  expect(tab.errors).toEqual([]);
});
