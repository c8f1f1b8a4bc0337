import { expect, it } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_UPSTREAM, useGateway } from '../support/use-gateway.ts';

const MODEL = 'vendor/large-1.5';
const ALIAS = 'vendor/family/large';
const gateway = useGateway({
  config: `workers: 1
${FAST_UPSTREAM}models:
  - {id: plain, max_output_tokens: 8000, price: {input: 0, output: 1}}
  - {id: ${MODEL}, aliases: [${ALIAS}], max_output_tokens: 8000, price: {input: 0, output: 10}}
`,
});
const openTab = useBrowser();

it('a model with slashes in its names is listed, given to a key, asked, and counted', async () => {
  const operator = admin(gateway());
  const account = await operator.createAccount();
  const { id, key } = await operator.createKey(account, { name: 'batch', models: ['plain'] });
  const tab = await openTab();
  const { page } = tab;
  await signIn(tab, gateway(), '#/catalogue');
  const models = page.getByRole('table', { name: 'Models, their windows' });
  await models.getByRole('row', { name: `${MODEL} ${ALIAS} ` }).waitFor();

  await page.goto(`${gateway().opsUrl}/#/keys/${id}`);
  await page.getByRole('button', { name: 'Edit controls' }).click();
  const form = page.getByRole('dialog', { name: 'Edit batch' });
  await form.getByLabel('Models').fill(`${MODEL}, ${ALIAS}`);
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${MODEL}, ${ALIAS}`).waitFor();
  expect(await operator.key(id)).toMatchObject({ models: [MODEL, ALIAS] });

  await page.goto(`${gateway().opsUrl}/#/playground`);
  await page.getByLabel('Key').fill(key);
  await page.getByLabel('Model').selectOption(MODEL);
  await page.getByLabel('Prompt').fill('[[tokens 5]]');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The answer is complete.').waitFor();
  await operator.waitUntilSettled(account);

  await page.goto(`${gateway().opsUrl}/#/accounts/${account}`);
  const usage = page.getByRole('table', { name: 'Usage by model' });
  await usage.getByRole('row').filter({ hasText: MODEL }).waitFor();
  expect(tab.errors).toEqual([]);
});

it('a model with slashes in its names is chosen on the page of a key', async () => {
  const operator = admin(gateway());
  const { key } = await operator.createKey(await operator.createAccount(), { models: [MODEL] });
  const tab = await openTab();
  await tab.page.goto(`${gateway().url}/`);
  await tab.page.getByLabel('API key').fill(key);
  await tab.page.getByRole('button', { name: 'Show my key' }).click();
  await tab.page.getByLabel('Model').selectOption(ALIAS);
  const curl = tab.page.getByRole('region', { name: 'Native messages with curl' });
  await curl.getByText(`"model": "${ALIAS}"`).waitFor();
  expect(tab.errors).toEqual([]);
});
