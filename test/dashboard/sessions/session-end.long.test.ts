import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import {
  expectAccessible,
  readAdminToken,
  signIn,
  type Tab,
  useBrowser,
} from '../../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

const REFUSAL = { error: { code: 'unauthorized', message: 'the session has ended' } };

/** Opens a top-up that is half filled in, and ends the session of its page. */
async function endAtWork(tab: Tab) {
  const operator = admin(gateway());
  const { id } = await operator.call<{ id: string }>('POST', '/accounts', {
    ...{ name: 'Secret Customer', plan: 'team' },
  });
  const { page } = tab;
  await signIn(tab, gateway(), `#/accounts/${id}`);
  await page.getByRole('button', { name: 'Top up' }).click();
  const form = page.getByRole('dialog', { name: 'Top up Secret Customer' });
  const paymentId = await form.getByLabel('Payment id').inputValue();
  await form.getByLabel('Credits').fill('25');

  const refused = await refuseCalls(page);
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByText('You were signed out: the session has ended.').waitFor();
  const signInAs = async (token: string) => {
    await refused.end();
    await again.getByLabel('Admin token').fill(token);
    await again.getByRole('button', { name: 'Sign in' }).click();
    await again.waitFor({ state: 'detached' });
  };
  return { operator, id, page, form, paymentId, again, refused, signInAs };
}

/** From now on the node refuses this page, as if its session had ended. */
async function refuseCalls(page: Page) {
  const isCall = (url: URL) => url.pathname.startsWith('/admin/v1/');
  const calls: string[] = [];
  await page.route(isCall, async (route) => {
    calls.push(route.request().url());
    await route.fulfill({ status: 401, json: REFUSAL });
  });
  return { calls, end: () => page.unroute(isCall) };
}

it('work survives the end of its session, unseen, and goes on after the same person signs in', async () => {
  const tab = await openTab();
  const { operator, id, page, form, paymentId, again, signInAs } = await endAtWork(tab);
  expect(await page.getByText('Secret Customer').first().isVisible()).toBe(false);
  const isShown = "(element) => getComputedStyle(element).visibility === 'visible'";
  const behind = `Array.from(document.querySelectorAll('[inert] *')).filter(${isShown}).length`;
  expect(await page.evaluate(behind)).toBe(0);
  expect(await page.locator('body').ariaSnapshot()).not.toContain('Secret Customer');
  expect(await page.title()).toBe('Sign in · Tollgate');
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  await expectAccessible(tab);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await again.waitFor();

  await signInAs(readAdminToken(gateway()));
  await form.waitFor();
  expect(await form.getByLabel('Credits').inputValue()).toBe('25');
  expect(await form.getByLabel('Payment id').inputValue()).toBe(paymentId);
  await page.waitForFunction("document.activeElement?.value === '25'");
  await form.getByRole('button', { name: 'Enter payment' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await operator.account(id)).toMatchObject({ balance: 25 });
  await page.waitForFunction("document.title === 'Secret Customer · Tollgate'");
  expect(tab.errors.filter((error) => !error.includes('401'))).toEqual([]);
});

it('a page whose session has ended asks the node for nothing', async () => {
  const tab = await openTab();
  const { page, refused } = await endAtWork(tab);
  // Whatever was on its way has been refused as soon as these have passed.
  await page.clock.install();
  await page.clock.runFor(1_000);
  const { length } = refused.calls;
  await page.clock.runFor(60_000);
  expect(refused.calls.slice(length)).toEqual([]);
});

it('a change that meets the end of the session is not sent again by itself', async () => {
  const tab = await openTab();
  const { page } = tab;
  const operator = admin(gateway());
  const account = await operator.createAccount({ credits: 0 });
  await signIn(tab, gateway(), `#/accounts/${account}`);
  await page.getByRole('button', { name: 'Top up' }).click();
  const form = page.getByRole('dialog', { name: 'Top up test' });
  await form.getByLabel('Credits').fill('25');
  const isPayment = (url: URL) => url.pathname.endsWith('/credits');
  await page.route(isPayment, (route) => route.fulfill({ status: 401, json: REFUSAL }));
  await form.getByRole('button', { name: 'Enter payment' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.getByLabel('Admin token').fill(readAdminToken(gateway()));
  await page.unroute(isPayment);
  await again.getByRole('button', { name: 'Sign in' }).click();
  await form.getByRole('alert').filter({ hasText: 'the session has ended' }).waitFor();
  expect(await operator.account(account)).toMatchObject({ balance: 0 });
  await form.getByRole('button', { name: 'Enter payment' }).click();
  await form.waitFor({ state: 'detached' });
  expect(await operator.account(account)).toMatchObject({ balance: 25 });
});

it('somebody else who signs in gets a page of their own', async () => {
  const tab = await openTab();
  const { operator, page, form, signInAs } = await endAtWork(tab);
  const { token } = await operator.call<{ token: string }>('POST', '/operators', {
    ...{ name: 'Grace', role: 'billing' },
  });
  await signInAs(token);
  await page.getByText('Grace (billing)').waitFor();
  await page.getByRole('heading', { name: 'Limits now' }).waitFor();
  expect(await form.count()).toBe(0);
  await page.getByRole('button', { name: 'Top up' }).click();
  expect(await form.getByLabel('Credits').inputValue()).toBe('');
});

it('whoever gives up the page is signed out of it', async () => {
  const tab = await openTab();
  const { page, again, form } = await endAtWork(tab);
  await again.getByRole('button', { name: 'Give up the page' }).click();
  await page.getByRole('heading', { name: 'Tollgate', level: 1 }).waitFor();
  expect(await form.count()).toBe(0);
  expect(await page.evaluate("document.body.textContent.includes('Secret Customer')")).toBe(false);
});
