import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_UPSTREAM, useGateway } from '../support/use-gateway.ts';

const model = (id: string) =>
  `  - {id: ${id}, max_output_tokens: 8000, price: {input: 0, output: 10}, routes: [{upstream: simulated}]}\n`;
const gateway = useGateway({
  config: `workers: 1\n${FAST_UPSTREAM}models:\n${model('large')}${model('small')}`,
});
const openTab = useBrowser();

it('a payment is in the ledger of the page that it was entered on', async () => {
  const account = await admin(gateway()).createAccount({ credits: 0 });
  const tab = await openTab();
  await signIn(tab, gateway(), `#/accounts/${account}`);
  const { page } = tab;
  await page.getByText('Nothing changed the balance in these days').waitFor();
  const ledger = page.getByRole('table', { name: 'Ledger, the newest first' });
  const rows = ledger.getByRole('row').filter({ has: page.getByRole('cell') });
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
      new RegExp(`topup${note}12\\.5${balance.replace('.', '\\.')}Receipt$`),
    );
  }
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
