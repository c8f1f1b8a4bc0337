import { expect, it } from 'vitest';
import { expectForgotten } from '../support/browser-secrets.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

// The window is so long that no request leaves it while a test looks.
const gateway = useGateway({ config: `${FAST_CONFIG}limits: {rate_window: 1h}\n` });
const openTab = useBrowser();

const ask = async (key: string) => (await askModel(gateway().url, key, messageOf('Hi'))).status;

async function openKey(controls: object) {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const created = await operator.createKey(account, controls);
  const tab = await openTab();
  await signIn(tab, gateway(), `#/keys/${created.id}`);
  await tab.page.getByRole('heading', { name: 'Limits now' }).waitFor();
  return { operator, account, tab, page: tab.page, ...created };
}

it('limits are live, changed and cleared, and a cap that is hit is seen', async () => {
  const { operator, account, tab, page, id, key } = await openKey({ name: 'batch', rpm: 5 });
  const gauge = (title: string) => page.locator('.gauge').filter({ hasText: title });
  await gauge('Rate of this key').getByText('0 of 5 requests in the last 3,600 s').waitFor();
  expect(await ask(key)).toBe(200);
  await gauge('Rate of this key').getByText('1 of 5 requests').waitFor();
  await gauge('Rate of the account')
    .getByText(/^1 of [\d,]+ requests/)
    .waitFor();
  await operator.waitUntilSettled(account);
  const { spent_this_month: spent } = await operator.key(id);
  await gauge('Spend of').getByText(`${spent} spent and 0 held, without a cap`).waitFor();

  const edit = async (label: string, text: string) => {
    await page.getByRole('button', { name: 'Edit controls' }).click();
    const form = page.getByRole('dialog', { name: 'Edit batch' });
    await form.getByLabel(label).fill(text);
    await form.getByRole('button', { name: 'Save' }).click();
    return form;
  };
  await edit('Monthly cap', String(spent));
  const full = gauge('Spend of').getByText(`${spent} spent and 0 held of ${spent} credits`);
  await full.waitFor();
  await expectAccessible(tab);
  expect(await ask(key)).toBe(402);
  const form = await edit('Monthly cap', 'a lot');
  await form.getByText('a lot is not a number such as 25 or 0.5').waitFor();
  expect(await operator.key(id)).toMatchObject({ monthly_cap: spent });
  await form.getByLabel('Monthly cap').fill('');
  await form.getByLabel('Ends at').fill('2090-01-01T12:00');
  await form.getByLabel('Requests at the same time').fill('4');
  await form.getByRole('button', { name: 'Save' }).click();
  await gauge('Requests at the same time').getByText('0 of 4').waitFor();
  expect(await operator.key(id)).toMatchObject({
    ...{ name: 'batch', rpm: 5, models: null, monthly_cap: null, concurrency: 4 },
    expires_at: expect.stringMatching(/^(2089-12-31|2090-01-0[12])T/),
  });
  expect(await ask(key)).toBe(200);
  expect(tab.errors).toEqual([]);
});

it('lists of limits are edited, and each is shown with what is used of it', async () => {
  const { operator, account, tab, page, id, key } = await openKey({ name: 'batch' });
  const edit = page.getByRole('button', { name: 'Edit controls' });
  await edit.click();
  const form = page.getByRole('dialog', { name: 'Edit batch' });
  const limits = form.getByLabel('Limits', { exact: true });
  await limits.fill('tokens=many/day');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('tokens=many/day is not a limit such as').waitFor();
  await limits.fill('tokens=5/fortnight');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('must be a length from 1s to 31d').waitFor();
  await limits.fill('requests=2/5h, credits=0.5/week:warn');
  await form.getByLabel('Limits of each end user').fill('tokens=1000/day');
  await form.getByRole('button', { name: 'Save' }).click();
  const gauge = (title: string) => page.locator('.gauge').filter({ hasText: title });
  await gauge('This key: requests, 5h').getByText('0 used of 2').waitFor();
  await gauge('This key: credits, week').getByText('which only warns').waitFor();
  expect([await ask(key), await ask(key), await ask(key)]).toEqual([200, 200, 429]);
  await gauge('This key: requests, 5h').getByText('2 used of 2').waitFor();
  await page.getByLabel('Name of an end user').fill('ada');
  await page.getByRole('button', { name: 'Show its limits' }).click();
  await gauge('The end user: tokens, day').getByText('0 used of 1,000').waitFor();
  await operator.waitUntilSettled(account);
  expect(await operator.key(id)).toMatchObject({
    limits: [{ unit: 'requests' }, { unit: 'credits', amount: 0.5, action: 'warn' }],
    user_limits: [{ unit: 'tokens', window: 'day', amount: 1_000 }],
  });
  await expectAccessible(tab);
  expect(tab.errors).toEqual([expect.stringContaining('400')]);
});

it('a rotated key has a new secret that is shown once, and a revoked one is refused', async () => {
  const { tab, page, id, key, operator } = await openKey({ name: 'build server' });
  await page.getByRole('button', { name: 'Rotate' }).click();
  const form = page.getByRole('dialog', { name: `Rotate build server (…${key.slice(-4)})` });
  await form.getByLabel('The old secret ends').selectOption('at once');
  await form.getByRole('button', { name: 'Rotate' }).click();
  const shown = page.getByRole('dialog', { name: 'New secret: build server' });
  const secret = (await shown.locator('code').textContent()) ?? '';
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  await shown.waitFor({ state: 'detached' });
  await expectForgotten(tab, secret);
  expect(secret).not.toBe(key);
  expect([await ask(key), await ask(secret)]).toEqual([401, 200]);

  await page.getByRole('button', { name: 'Rotate' }).click();
  const overlapping = page.getByRole('dialog', {
    name: `Rotate build server (…${secret.slice(-4)})`,
  });
  await overlapping.getByLabel('The old secret ends').selectOption('after an hour');
  await overlapping.getByRole('button', { name: 'Rotate' }).click();
  const newest = (await shown.locator('code').textContent()) ?? '';
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  expect([await ask(secret), await ask(newest)]).toEqual([200, 200]);

  await page.getByRole('button', { name: 'Revoke' }).click();
  const dialog = page.getByRole('dialog', { name: 'Revoke this key?' });
  await dialog.getByText(`build server (…${newest.slice(-4)})`).waitFor();
  await expectAccessible(tab);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect(await ask(newest)).toBe(200);
  await page.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('A revoked key cannot be changed any more.').waitFor();
  expect([await ask(secret), await ask(newest)]).toEqual([401, 401]);
  expect(await operator.key(id)).toMatchObject({ status: 'revoked' });
  expect(tab.errors).toEqual([]);
});

it('a second click after a lost answer does not rotate again: the secret in use goes on', async () => {
  const { tab, page, id, key, operator } = await openKey({ name: 'busy' });
  await page.route(
    '**/rotate',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await page.getByRole('button', { name: 'Rotate' }).click();
  const form = page.getByRole('dialog', { name: /^Rotate busy/ });
  const again = form.getByRole('button', { name: 'Rotate' });
  await again.click();
  await form.getByRole('alert').filter({ hasText: 'the node cannot be reached' }).waitFor();
  const { rotated_at: rotatedAt } = await operator.key(id);
  // The page reads the key again while the dialog is open.
  await page.locator('.facts div', { hasText: 'Rotated' }).locator('time').waitFor();
  await again.click();
  const refusal = form.getByRole('alert').filter({ hasText: `rotated meanwhile, at ${rotatedAt}` });
  await refusal.waitFor();
  expect(await ask(key)).toBe(200);
  await form.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Rotate' }).click();
  await form.getByText('A secret from before that ends at once.').waitFor();
  await expectAccessible(tab);
  await again.click();
  await page.getByRole('dialog', { name: 'New secret: busy' }).waitFor();
  expect(await ask(key)).toBe(401);
  expect(tab.errors).toHaveLength(2);
});

it('a key cannot be made to end in the past, and one that has ended says so', async () => {
  const { tab, page, id, account, operator } = await openKey({ name: 'old' });
  await page.getByRole('button', { name: 'Edit controls' }).click();
  const form = page.getByRole('dialog', { name: 'Edit old' });
  await form.getByLabel('Ends at').fill('2020-01-01T12:00');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('must be in the future; to end a key at once, revoke it').waitFor();
  expect(await form.getByLabel('Ends at').getAttribute('aria-invalid')).toBe('true');
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('400')]);
  await form.getByRole('button', { name: 'Cancel' }).click();

  await operator.setKey(id, { expires_at: new Date(Date.now() + 5_000).toISOString() });
  await page.locator('.facts').getByText('expired', { exact: true }).waitFor();
  await page.getByText('This key has ended').waitFor();
  await page.goto(`${gateway().opsUrl}/#/accounts/${account}`);
  const keys = page.getByRole('table', { name: 'Keys of test' });
  await keys.getByRole('row', { name: /^old .* expired / }).waitFor();
  await page.goto(`${gateway().opsUrl}/#/keys/${id}`);
  await page.getByRole('button', { name: 'Edit controls' }).click();
  await form.getByLabel('Ends at').fill('');
  await form.getByRole('button', { name: 'Save' }).click();
  await page.locator('.facts').getByText('active', { exact: true }).waitFor();
  expect(tab.errors).toEqual([]);
});

it('a key that was revoked elsewhere meanwhile cannot be changed, and the form says why', async () => {
  const { tab, page, id, operator } = await openKey({ name: 'old' });
  await page.getByRole('button', { name: 'Edit controls' }).click();
  const form = page.getByRole('dialog', { name: 'Edit old' });
  await operator.revoke(id);
  await form.getByLabel('Name').fill('new');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByRole('alert').filter({ hasText: 'is revoked, and that is final' }).waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('409')]);
});

it('a key whose record has gone is said to be gone, with what the books know of it', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const { id, key } = await operator.createKey(account, { name: 'old' });
  expect(await ask(key)).toBe(200);
  await operator.waitUntilSettled(account);
  await operator.waitForBooks();
  const tab = await openTab();
  const { page } = tab;
  // The record goes long after the revocation. A key that never was is refused in the same way.
  let reads = 0;
  await page.route(
    (url) => url.pathname === `/admin/v1/keys/${id}`,
    async (route) => {
      reads += 1;
      const error = { code: 'key_not_found', message: `there is no key ${id}` };
      await route.fulfill({ status: 404, json: { error } });
    },
  );
  await signIn(tab, gateway(), `#/keys/${id}`);
  await page.getByText('goes 90 days after it was revoked').waitFor();
  const requests = page.getByRole('table', { name: 'Latest requests' });
  await requests.getByRole('link', { name: 'test' }).waitFor();
  await requests.getByRole('link', { name: 'old' }).waitFor();
  await expectAccessible(tab);
  await page.waitForResponse((response) => response.url().includes('/admin/v1/requests?'));
  expect(reads).toBe(1);
  expect(tab.errors).toEqual([expect.stringContaining('404')]);
});
