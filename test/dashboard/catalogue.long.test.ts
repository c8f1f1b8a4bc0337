import { afterAll, beforeAll, expect, it } from 'vitest';
import { askModel, HAIKU, messageOf } from '../support/clients/ask-model.ts';
import {
  createKey,
  operate,
  SETTINGS,
  startDurableRedis,
  withOutput,
} from '../support/clients/catalogue-scene.ts';
import {
  expectAccessible,
  signIn,
  type Tab,
  useBrowser,
} from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';

afterAll(stopRedisServers);
const cleanUp = useCleanUp();
let started: Gateway | undefined;
const openTab = useBrowser();

beforeAll(async () => {
  const redis = await startDurableRedis();
  started = await startGateway({
    config: SETTINGS,
    env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    cleanUp,
  });
});
/** Opens the page, with the buttons and tables that the tests use. */
async function openCatalogue() {
  if (started === undefined) throw new Error('the node has not started');
  const tab = await openTab();
  await signIn(tab, started, '#/catalogue');
  const { page } = tab;
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const table = (name: string | RegExp) => page.getByRole('table', { name });
  const editor = page.getByRole('textbox', { name: 'Catalogue' });
  return {
    ...{ tab, page, node: started, operator: operate(started), button, table, editor },
    row: (name: string | RegExp) => table('Versions that are kept').getByRole('row', { name }),
    async begin() {
      await button('Change the catalogue').click();
      await editor.waitFor();
    },
    /** Sets the price of output in the text, and looks at the changes. */
    async writeOutput(output: number) {
      const text = await editor.inputValue();
      await editor.fill(text.replace(/"output": [\d.]+/, `"output": ${output}`));
      await button('Show changes').click();
    },
  };
}

async function expectSound(tab: Tab): Promise<void> {
  await expectAccessible(tab);
  await tab.page.setViewportSize({ width: 390, height: 800 });
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await tab.page.evaluate(widths)).toEqual([390, 390]);
  await tab.page.setViewportSize({ width: 1_280, height: 800 });
  expect(tab.errors).toEqual([]);
}

it('a change is shown field by field, applied, listed, and named by the receipts of its requests', async () => {
  const { tab, page, node, operator, button, table, row, begin, writeOutput } =
    await openCatalogue();
  await row(/^Version 1 in force .* the settings first version –$/).waitFor();
  await table('Prices in credits')
    .getByRole('row', { name: `${HAIKU} 0 1 0 0 0` })
    .waitFor();
  await begin();
  await writeOutput(2.5);
  await table('Fields that differ from version 1')
    .getByRole('row', { name: `models[${HAIKU}].price.output 1 2.5` })
    .waitFor();
  expect((await operator.read()).version).toBe(1);
  await expectSound(tab);
  await button('Apply at once').click();
  await page.getByText('Version 2 is applied.').waitFor();
  await row(/^Version 2 in force .* api from \S+ change –$/).waitFor();
  await row(/^Version 1 past /).waitFor();
  await table('Prices in credits')
    .getByRole('row', { name: `${HAIKU} 0 2.5` })
    .waitFor();
  await expectSound(tab);

  const { account, key } = await createKey(operator);
  const { headers } = await askModel(node.url, key, messageOf('Hi'));
  await operator.waitUntilSettled(account);
  await page.goto(`${node.opsUrl}/#/requests/${headers.get('request-id')}`);
  await page.getByRole('link', { name: 'version 2' }).click();
  await page.getByRole('heading', { name: 'Version 2 of the catalogue' }).waitFor();
  await table('What changed since version 1')
    .getByRole('row', { name: `models[${HAIKU}].price.output 1 2.5` })
    .waitFor();
  await expectSound(tab);
});

it('a text with mistakes is refused with each of them, and one that is not JSON is not sent', async () => {
  const { page, operator, button, editor, begin } = await openCatalogue();
  const { version } = await operator.read();
  await begin();
  const text = await editor.inputValue();
  await editor.fill(text.replace('}', '}}'));
  await button('Show changes').click();
  await page.getByText(/^this is not JSON: .*line \d+/).waitFor();
  await editor.fill(text.replace('"fast"', '"nowhere"'));
  await button('Show changes').click();
  await page.getByText(/models\[0\]\.routes\[0\]\.upstream: no upstream has the name/).waitFor();
  await editor.fill(text.replace('"max_output_tokens": 8000', '"max_output_tokens": 0'));
  await button('Show changes').click();
  await page.getByText(/catalogue\.models\.0\.max_output_tokens: /).waitFor();
  await button('Cancel').click();
  await editor.waitFor({ state: 'detached' });
  expect((await operator.read()).version).toBe(version);
});

it('an operator who is late sees what changed meanwhile, and nothing is lost', async () => {
  const { tab, page, operator, button, table, editor, begin, writeOutput } = await openCatalogue();
  const { version, catalogue } = await operator.read();
  await begin();
  await writeOutput(4);
  await button('Apply at once').waitFor();
  const plans = { ...catalogue.plans, pro: 1_234 };
  await operator.put(version, { ...catalogue, plans });
  await button('Apply at once').click();
  await table(`What changed since version ${version}`)
    .getByRole('row', { name: 'plans.pro 1000000 1234' })
    .waitFor();
  await page.getByText(`Version ${version + 1} was applied`).waitFor();
  tab.errors.splice(0);
  await expectSound(tab);

  await button('Keep my text').click();
  await button('Show changes').click();
  const mine = table(`Fields that differ from version ${version + 1}`);
  await mine.getByRole('row', { name: 'plans.pro 1234 1000000' }).waitFor();
  await editor.fill((await editor.inputValue()).replace('"pro": 1000000', '"pro": 1234'));
  await mine.waitFor({ state: 'detached' });
  await button('Show changes').click();
  await mine.getByRole('row', { name: /price\.output .* 4$/ }).waitFor();
  expect(await mine.locator('tbody').getByRole('row').count()).toBe(1);
  await button('Apply at once').click();
  await page.getByText(`Version ${version + 2} is applied.`).waitFor();
  expect((await operator.read()).catalogue).toMatchObject({
    ...{ plans, models: [{ price: { output: 4 } }] },
  });
});

it('a change from a time on is scheduled and can be seen, and a rollback withdraws it', async () => {
  const { tab, page, operator, button, table, row, begin, writeOutput } = await openCatalogue();
  const { version, catalogue } = await operator.read();
  await begin();
  await page.getByLabel('Holds from').fill('2037-01-01T00:00');
  await writeOutput(9);
  await button('Apply from 1 Jan 2037').click();
  await page.getByText(`Version ${version + 1} is applied and holds from 1 Jan 2037`).waitFor();
  await row(new RegExp(`^Version ${version + 1} scheduled 1 Jan 2037`)).waitFor();
  await row(new RegExp(`^Version ${version} in force`)).waitFor();
  const prices = table('Prices in credits').getByRole('row', { name: `${HAIKU} 0` });
  expect(await prices.textContent()).not.toContain('9');
  await begin();
  expect(await page.getByLabel('Holds from').inputValue()).toBe('2037-01-01T00:00');
  await page.getByLabel('Holds from').fill('');
  await writeOutput(8);
  await button('Apply at once').click();
  await page.getByText(/a change may not hold before it; a rollback withdraws it/).waitFor();
  tab.errors.splice(0);
  await button('Cancel').click();

  await page
    .getByRole('status')
    .getByRole('link', { name: `Version ${version + 1}` })
    .click();
  await page.getByRole('heading', { name: `Version ${version + 1} of the catalogue` }).waitFor();
  await prices.and(page.getByRole('row', { name: /0 9 / })).waitFor();
  await page.goBack();
  await button(`Roll back to version ${version}`).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('row', { name: /price\.output 9 / }).waitFor();
  await expectSound(tab);
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await dialog.waitFor({ state: 'detached' });
  await row(
    new RegExp(`^Version ${version + 2} in force .* back to version ${version} –$`),
  ).waitFor();
  await row(new RegExp(`^Version ${version + 1} withdrawn`)).waitFor();
  expect((await operator.read()).catalogue).toEqual(catalogue);
});

it('a rollback is refused if another version came after what its dialog shows', async () => {
  const { tab, page, operator, button, table, row } = await openCatalogue();
  const { version, catalogue } = await operator.read();
  await operator.put(version, withOutput(catalogue, 3.25));
  await button(`Roll back to version ${version}`).click();
  const dialog = page.getByRole('dialog', { name: `Roll back to version ${version}?` });
  await dialog.getByText(`Version ${version + 2} will sell what version ${version} sold`).waitFor();
  await dialog.getByRole('row', { name: /price\.output 3\.25 / }).waitFor();
  const newest = withOutput(catalogue, 3.5);
  await operator.put(version + 1, newest);
  await row(new RegExp(`^Version ${version + 2} `)).waitFor();
  await dialog.getByRole('button', { name: 'Roll back' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(tab.errors.splice(0)).toEqual([expect.stringContaining('409')]);
  expect(await operator.read()).toMatchObject({ version: version + 2, catalogue: newest });

  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'detached' });
  await button(`Roll back to version ${version}`).click();
  await table(`What differs from version ${version + 2}`)
    .getByRole('row', { name: /price\.output 3\.5 / })
    .waitFor();
  expect(tab.errors).toEqual([]);
});

it('a version that comes while the page reads is shown by the next read, not by half', async () => {
  const { page, operator, row, button } = await openCatalogue();
  const { version, catalogue } = await operator.read();
  let goOn = () => {};
  const looked = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let reads = 0;
  await page.route(/\/admin\/v1\/catalogue$/, async (route) => {
    reads += 1;
    if (reads > 1) await looked;
    const response = await route.fetch();
    if (reads === 1) await operator.put(version, withOutput(catalogue, 4.25));
    await route.fulfill({ response });
  });
  await page.reload();
  await row(new RegExp(`^Version ${version} in force`)).waitFor();
  expect(await row(new RegExp(`^Version ${version + 1} `)).count()).toBe(0);
  expect(await button(`Roll back to version ${version}`).count()).toBe(0);
  goOn();
  await button(`Roll back to version ${version}`).click();
  await page.getByText(`Version ${version + 2} will sell what version ${version} sold`).waitFor();
});

it('the form of an account keeps a plan that is sold no more, and begins with the first that is', async () => {
  const { tab, page, node, operator } = await openCatalogue();
  const account = await operator.createAccount({ plan: 'team' });
  const { version, catalogue } = await operator.read();
  const { team: _, ...plans } = catalogue.plans;
  const [first = ''] = Object.keys(plans);
  await operator.put(version, { ...catalogue, plans });
  await page.goto(`${node.opsUrl}/#/accounts/${account}`);
  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog', { name: 'Edit test' });
  const plan = edit.getByLabel('Plan');
  await plan.getByRole('option', { name: first }).waitFor({ state: 'attached' });
  expect(await plan.getByRole('option').allTextContents()).toEqual([...Object.keys(plans), 'team']);
  expect(await plan.inputValue()).toBe('team');
  await edit.getByLabel('Name').fill('Acme Ltd');
  await edit.getByRole('button', { name: 'Save' }).click();
  await edit.waitFor({ state: 'detached' });
  expect(await operator.account(account)).toMatchObject({ name: 'Acme Ltd', plan: 'team' });

  await page.goto(`${node.opsUrl}/#/accounts`);
  await page.getByRole('button', { name: 'Create an account' }).click();
  const form = page.getByRole('dialog', { name: 'Create an account' });
  await form.getByLabel('Name').fill('Beta Ltd');
  await form.getByLabel('Plan').getByRole('option', { name: first }).waitFor({ state: 'attached' });
  await form.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { name: 'Beta Ltd', level: 1 }).waitFor();
  const id = page.url().split('/').at(-1) ?? '';
  expect(await operator.account(id)).toMatchObject({ name: 'Beta Ltd', plan: first });
  expect(tab.errors).toEqual([]);
});
