import { expect, it } from 'vitest';
import { readAdminToken, signIn, useBrowser } from '../../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

it('who has the admin token sees the overview, also after a reload of the page', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
});

it('signing out forgets the token', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  await tab.page.getByRole('button', { name: 'Sign out' }).click();
  await tab.page.getByLabel('Admin token').waitFor();
  expect(await tab.page.evaluate('sessionStorage.length')).toBe(0);
  await tab.page.reload();
  await tab.page.getByLabel('Admin token').waitFor();
});

it('a token that holds no longer brings back the sign-in page, with the reason', async () => {
  const tab = await openTab();
  await signIn(tab, gateway());
  const { page } = tab;
  await page.evaluate("sessionStorage.setItem('tollgate-admin-token', 'another')");
  await page.reload();
  await page.getByLabel('Admin token').waitFor();
  await page.getByText('You were signed out: the admin token is wrong.').waitFor();
});

it('a wrong token is refused beside the field, and guessing is told how long to wait; the right one signs in', async () => {
  const { page } = await openTab();
  await page.goto(gateway().opsUrl);
  const field = page.getByLabel('Admin token');
  const button = page.getByRole('button', { name: 'Sign in' });
  await field.fill('a-wrong-token');
  await button.click();
  await page.getByRole('alert').filter({ hasText: 'the admin token is wrong' }).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');

  const guess = { headers: { authorization: 'Bearer guessed' } };
  const statuses = new Set<number>();
  for (let tries = 0; tries < 10; tries += 1) {
    statuses.add((await fetch(`${gateway().opsUrl}/admin/v1/cluster`, guess)).status);
  }
  expect(statuses).toContain(429);
  await field.fill('another-wrong-token');
  await button.click();
  const wait = /too many wrong admin tokens .* try again in \d+ seconds/;
  await page.getByRole('alert').filter({ hasText: wait }).waitFor();
  expect(await page.evaluate('sessionStorage.length')).toBe(0);
  await field.fill(readAdminToken(gateway()));
  await button.click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});
