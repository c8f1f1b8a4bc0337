import { expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { expectAccessible, signIn, useBrowser } from '../../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const gateway = useGateway({
  config: `${FAST_CONFIG}plans: {team: {requests: 1000, limits: [{unit: tokens, window: day, amount: 900000}]}}
`,
});
const openTab = useBrowser();

const ask = async (key: string, more: object = {}) =>
  (await askModel(gateway().url, key, { ...messageOf('Hi'), ...more })).status;

async function openAccount(options = {}) {
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 10 });
  const tab = await openTab(options);
  await signIn(tab, gateway(), `#/accounts/${account}`);
  await tab.page.getByRole('heading', { name: 'Groups' }).waitFor();
  const gauge = (title: string) => tab.page.locator('.gauge').filter({ hasText: title });
  return { operator, account, tab, page: tab.page, gauge };
}

it('a group is created, changed and given keys here, and its limits are shown and hold', async () => {
  const { operator, account, tab, page, gauge } = await openAccount();
  await page.getByText('This account has no group yet').waitFor();
  await page.getByRole('button', { name: 'Create a group' }).click();
  const form = page.getByRole('dialog', { name: 'Create a group of test' });
  const list = form.getByLabel('Limits', { exact: true });
  await list.fill('tokens=5/fortnight');
  await form.getByRole('button', { name: 'Create' }).click();
  await form.getByText('must be text of 1 to 100 characters').waitFor();
  await form.getByText('must be a length from 1s to 31d').waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('400')]);
  await form.getByLabel('Name').fill('Research <b>&amp;</b> “γ”');
  await list.fill('requests=2/5h\ncredits=0.5/week:warn');
  await expectAccessible(tab);
  await form.getByRole('button', { name: 'Create' }).click();

  await page.getByRole('link', { name: 'Research <b>&amp;</b> “γ”' }).waitFor();
  await page.getByRole('button', { name: 'Create a key' }).click();
  const keyForm = page.getByRole('dialog', { name: 'Create a key of test' });
  await keyForm.getByLabel('Name').fill('notebook');
  await keyForm.getByLabel('Group').selectOption('Research <b>&amp;</b> “γ”');
  await expectAccessible(tab);
  await keyForm.getByRole('button', { name: 'Create' }).click();
  const shown = page.getByRole('dialog', { name: /^New key: notebook/ });
  const secret = (await shown.locator('code').textContent()) ?? '';
  await shown.getByRole('button', { name: 'I have stored it' }).click();
  const groups = page.getByRole('table', { name: 'Groups of test' });
  await groups.getByRole('row', { name: /γ” 1 requests=2\/5h, credits=0\.5\/week:warn/ }).waitFor();

  await groups.getByRole('link').click();
  await page.getByRole('heading', { name: 'Research <b>&amp;</b> “γ”', level: 1 }).waitFor();
  expect([await ask(secret), await ask(secret), await ask(secret)]).toEqual([200, 200, 429]);
  await gauge('This group: requests, 5h').getByText('2 used of 2').waitFor();
  await gauge('This group: credits, week (warning)').getByText('which only warns').waitFor();
  await gauge('The account: tokens, day').waitFor();
  await gauge('Rate of the account').getByText('2 of 1,000 requests').waitFor();
  await page.getByRole('table', { name: 'Keys of Research' }).getByText('notebook').waitFor();
  await expectAccessible(tab);

  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit Research' });
  expect(await edit.getByLabel('Limits', { exact: true }).inputValue()).toBe(
    'requests=2/5h\ncredits=0.5/week:warn',
  );
  await edit.getByLabel('Name').fill('Research');
  await edit.getByLabel('Limits', { exact: true }).fill('requests=9/5h');
  await edit.getByLabel('Limits of each end user').fill('requests=1/day');
  await edit.getByLabel('Require an end user').check();
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { name: 'Research', level: 1 }).waitFor();
  await gauge('This group: requests, 5h').getByText('2 used of 9').waitFor();
  const metadata = { user_id: 'ada' };
  expect([await ask(secret), await ask(secret, { metadata })]).toEqual([400, 200]);
  expect(await ask(secret, { metadata })).toBe(429);
  const { data } = await operator.call<{ data: object[] }>('GET', `/accounts/${account}/groups`);
  expect(data).toMatchObject([
    { name: 'Research', require_user: true, user_limits: [{ unit: 'requests', amount: 1 }] },
  ]);
  const audit = await operator.call<{ data: { what: string }[] }>(
    'GET',
    `/audit?account=${account}`,
  );
  expect(audit.data.map(({ what }) => what).filter((what) => what.startsWith('group.'))).toEqual([
    'group.set',
    'group.create',
  ]);
  await page.getByRole('link', { name: 'test', exact: true }).click();
  await gauge('This account: tokens, day').waitFor();
  await page.goto(`${gateway().opsUrl}/#/audit`);
  await page.getByRole('row').filter({ hasText: 'group.set' }).first().waitFor();
  await page.getByRole('row').getByRole('link', { name: 'Research', exact: true }).click();
  await page.getByRole('heading', { name: 'Research', level: 1 }).waitFor();

  await page.getByRole('link', { name: 'All requests, with filters' }).click();
  await page.getByText('Filters: 2 set').waitFor();
  const chosen = page.getByLabel('Group').locator('option:checked', { hasText: 'Research' });
  await chosen.waitFor({ state: 'attached' });
  await page.locator('[data-request]').first().waitFor();
  await page.getByLabel('End user').fill('nobody');
  await page.keyboard.press('Enter');
  await page.getByText('No request fits these filters').waitFor();
  expect(await page.evaluate('location.hash')).toMatch(/group=grp_\w+&end_user=nobody$/);
  expect(tab.errors).toEqual([]);
});

it('the form of a key takes it out of its group, and asks for an end user', async () => {
  const { operator, account, tab, page } = await openAccount();
  const body = { name: 'Team', limits: [] };
  const { id: group } = await operator.call<{ id: string }>(
    'POST',
    `/accounts/${account}/groups`,
    body,
  );
  const { id, key } = await operator.createKey(account, { name: 'batch', group });
  await page.goto(`${gateway().opsUrl}/#/keys/${id}`);
  await page.locator('.facts').getByRole('link', { name: 'Team' }).waitFor();
  await page.getByRole('button', { name: 'Edit controls' }).click();
  const form = page.getByRole('dialog', { name: 'Edit batch' });
  await waitUntil(
    async () => (await form.getByLabel('Group').inputValue()) === group,
    'the group is chosen',
  );
  await form.getByLabel('Require an end user').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await operator.key(id)).toMatchObject({ group, require_user: true });
  expect(await ask(key)).toBe(400);
  await page.getByRole('button', { name: 'Edit controls' }).click();
  await form.getByLabel('Group').selectOption('None');
  await form.getByLabel('Require an end user').uncheck();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await operator.key(id)).toMatchObject({ group: null, require_user: false });
  expect(await ask(key)).toBe(200);
  expect(tab.errors).toEqual([]);
});

it('a viewer sees groups and their limits, and no button that changes them', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const path = `/accounts/${account}/groups`;
  const { id } = await operator.call<{ id: string }>('POST', path, { name: 'Team' });
  const viewer = { name: 'Vera', role: 'viewer' };
  const { token } = await operator.call<{ token: string }>('POST', '/operators', viewer);
  const tab = await openTab();
  const { page } = tab;
  await page.goto(`${gateway().opsUrl}/#/accounts/${account}`);
  await page.getByLabel('Admin token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByText('No key belongs to this group yet').waitFor();
  await page.getByText('The account: tokens, day').waitFor();
  expect(await page.getByRole('button', { name: 'Edit' }).count()).toBe(0);
  await page.goBack();
  await page.getByRole('link', { name: 'Team' }).waitFor();
  expect(await page.getByRole('button', { name: /^Create/ }).count()).toBe(0);
  const answer = await fetch(`${gateway().opsUrl}/admin/v1/groups/${id}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"name":"Mine"}',
  });
  expect(answer.status).toBe(403);
  expect(tab.errors).toEqual([]);
});

it('two hundred groups are shown fifty at a time, and each can be chosen for a key', async () => {
  const { operator, account, page } = await openAccount();
  for (let number = 0; number < 200; number++) {
    await operator.call('POST', `/accounts/${account}/groups`, { name: `Team ${number}` });
  }
  await page.reload();
  const rows = page.getByRole('table', { name: 'Groups of test' }).getByRole('link');
  await waitUntil(async () => (await rows.count()) === 50, 'fifty are shown');
  await page.getByRole('button', { name: 'Show more: 150 are left' }).click();
  await waitUntil(async () => (await rows.count()) === 100, 'a hundred are shown');
  await page.getByRole('button', { name: 'Create a key' }).click();
  const choice = page.getByRole('dialog').getByLabel('Group');
  await waitUntil(async () => (await choice.locator('option').count()) === 201, 'all are there');
});

it.each(['light', 'dark'] as const)('groups fit a phone (%s)', async (colorScheme) => {
  const viewport = { width: 390, height: 800 };
  const { operator, account, tab, page, gauge } = await openAccount({ viewport, colorScheme });
  const limits = ['tokens', 'input_tokens', 'output_tokens', 'requests', 'credits'].flatMap(
    (unit) =>
      ['1m', 'week', 'month'].map((window) => {
        const isTimed = unit === 'requests' && window === '1m';
        return { unit, window, amount: isTimed ? 1_000_000 : 123_456_789 };
      }),
  );
  const body = { name: 'A'.repeat(100), limits, user_limits: limits.slice(0, 4) };
  const path = `/accounts/${account}/groups`;
  const { id: group } = await operator.call<{ id: string }>('POST', path, body);
  const { key } = await operator.createKey(account, { name: 'batch', group });
  expect(await ask(key, { metadata: { user_id: 'ada' } })).toBe(200);
  await page.reload();
  const expectFit = async () => {
    const overflows = await page.evaluate(`
      [...document.querySelectorAll('html, dialog')].map((box) => box.scrollWidth - box.clientWidth)
    `);
    expect(new Set(overflows as number[])).toEqual(new Set([0]));
    await expectAccessible(tab);
  };
  await page.getByRole('link', { name: /^A{100}$/ }).waitFor();
  await gauge('This account: tokens, day').waitFor();
  await expectFit();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('option', { name: /^A{100}$/ }).waitFor({ state: 'attached' });
  await expectFit();
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: /^A{100}$/ }).click();
  await gauge('This group: output tokens, month').waitFor();
  await page.getByRole('table', { name: /^Keys of A/ }).waitFor();
  await expectFit();
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('dialog').waitFor();
  await expectFit();
  expect(tab.errors).toEqual([]);
});

it('a list that somebody else has changed since its form opened is not replaced', async () => {
  const { operator, account, tab, page } = await openAccount();
  const at = `/accounts/${account}`;
  const group = await operator.call<{ id: string }>('POST', `${at}/groups`, { name: 'Team' });
  const key = await operator.call<{ id: string }>('POST', `${at}/keys`, { name: 'bot' });
  const limits = [{ unit: 'requests', window: '5h', amount: 1, action: 'block' }];
  for (const [path, button] of [
    [at, 'Edit'],
    [`/groups/${group.id}`, 'Edit'],
    [`/keys/${key.id}`, 'Edit controls'],
  ] as const) {
    await page.goto(`${gateway().opsUrl}/#${path}`);
    await page.getByRole('button', { name: button, exact: true }).click();
    const form = page.getByRole('dialog', { name: /^Edit / });
    await form.getByLabel('Limits', { exact: true }).fill('requests=2/5h');
    await operator.call('PATCH', path, { limits });
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('was changed meanwhile').waitFor();
    expect(tab.errors.splice(0)).toEqual([expect.stringContaining('409')]);
    await form.getByRole('button', { name: 'Cancel' }).click();
    expect(await operator.call('GET', path)).toMatchObject({ limits });
  }
});
