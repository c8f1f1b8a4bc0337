import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { expectForgotten } from '../support/browser-secrets.ts';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import {
  expectAccessible,
  signIn,
  type Tab,
  useBrowser,
} from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

const dialogOf = (page: Page) => page.getByRole('dialog', { name: /^New key: build server/ });
const ask = async (key: string) => (await askModel(gateway().url, key, messageOf('Hi'))).status;

async function fillForm({ page }: Tab): Promise<void> {
  const account = await admin(gateway()).createAccount({ credits: 10 });
  await signIn({ page }, gateway(), '#/accounts');
  await page.evaluate(`location.hash = '#/accounts/${account}'`);
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByRole('dialog', { name: 'Create a key of test' }).waitFor();
  await page.getByLabel('Name').fill('build server');
}

async function createKey(tab: Tab): Promise<string> {
  await fillForm(tab);
  await tab.page.getByRole('button', { name: 'Create', exact: true }).click();
  const secret = await dialogOf(tab.page).locator('code').textContent();
  return secret ?? '';
}

it('a new key survives Escape, a click beside it and the way back, until somebody says to lose it', async () => {
  const tab = await openTab();
  const secret = await createKey(tab);
  const { page } = tab;
  const shown = dialogOf(page);
  for (let pressed = 0; pressed < 4; pressed += 1) {
    await page.keyboard.press('Escape');
    await shown.getByRole('alert').filter({ hasText: 'has not been copied' }).waitFor();
    expect(await shown.locator('code').textContent()).toBe(secret);
  }
  await expectAccessible(tab);
  await shown.getByRole('button', { name: 'Keep it open' }).click();
  await page.mouse.click(2, 2);
  await page.goBack();
  expect(new URL(page.url()).hash).toBe('#/accounts');
  await page.getByText('Name or id').waitFor();
  expect(await shown.locator('code').textContent()).toBe(secret);
  await shown.getByRole('button', { name: 'I have stored it' }).waitFor();

  await page.keyboard.press('Escape');
  await shown.getByRole('button', { name: 'Close without a copy' }).click();
  await shown.waitFor({ state: 'detached' });
  await expectForgotten(tab, secret);
  expect(tab.errors).toEqual([]);
});

it('a new key that was copied is left with Escape', async () => {
  const tab = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
  const secret = await createKey(tab);
  const { page } = tab;
  const shown = dialogOf(page);
  await page.keyboard.press('Escape');
  await shown.getByRole('alert').waitFor();
  await shown.getByRole('button', { name: 'Copy key' }).click();
  await shown.getByText('Copied.').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
  await page.keyboard.press('Escape');
  await shown.waitFor({ state: 'detached' });
  await expectForgotten(tab, secret);
  expect(await ask(secret)).toBe(200);
});

it('the browser asks before a page with a new key is loaded anew, and not after', async () => {
  const tab = await openTab();
  const { page } = tab;
  const secret = await createKey(tab);
  const asked = page.waitForEvent('dialog');
  await page.evaluate('setTimeout(() => location.reload())');
  const question = await asked;
  expect(question.type()).toBe('beforeunload');
  await question.dismiss();
  expect(await dialogOf(page).locator('code').textContent()).toBe(secret);
  await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click();
  await dialogOf(page).waitFor({ state: 'detached' });
  await page.waitForFunction("dispatchEvent(new Event('beforeunload', { cancelable: true }))");
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.type());
    void dialog.accept();
  });
  await page.reload();
  await page.getByText('build server').waitFor();
  expect(questions).toEqual([]);
});

it('a new key is shown also when its page was left before the answer came, and keys one after the other', async () => {
  const tab = await openTab();
  const { page } = tab;
  await fillForm(tab);
  let answer = () => {};
  const isLate = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(
    (url) => url.pathname.endsWith('/keys'),
    async (route) => {
      if (route.request().method() === 'POST') await isLate;
      await route.continue();
    },
  );
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.goBack();
  await page.getByText('Name or id').waitFor();
  await page.goForward();
  await page.getByRole('button', { name: 'Create a key' }).click();
  await page.getByLabel('Name').fill('build server');
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  answer();
  const secrets = new Set<string>();
  for (let count = 0; count < 2; count += 1) {
    const shown = dialogOf(page);
    const secret = (await shown.locator('code').textContent()) ?? '';
    expect(await ask(secret)).toBe(200);
    secrets.add(secret);
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByText(secret).waitFor({ state: 'detached' });
  }
  expect(secrets.size).toBe(2);
});
