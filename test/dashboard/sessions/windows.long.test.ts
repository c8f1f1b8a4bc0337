import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { readAdminToken, signIn, useBrowser } from '../../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

/** Chromium without a screen takes every page for visible. */
const turnPage = (page: Page, state: 'visible' | 'hidden') =>
  page.evaluate(`(() => {
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);

/** The addresses of the streams that are open. */
function watchStreams(page: Page): Set<string> {
  const open = new Set<string>();
  const isStream = (url: string) => new URL(url).pathname === '/admin/v1/events';
  page.on('request', (request) => isStream(request.url()) && open.add(request.url()));
  page.on('requestfailed', (request) => open.delete(request.url()));
  page.on('requestfinished', (request) => open.delete(request.url()));
  return open;
}

it('a page that nobody sees has no stream, and when it is seen again it has them all', async () => {
  const node = gateway().nodeId();
  const tab = await openTab();
  const { page } = tab;
  const streams = watchStreams(page);
  await signIn(tab, gateway(), '#/overview');
  await page.getByRole('img', { name: /requests: 0 now/ }).waitFor();
  await page.getByLabel('Show').selectOption(node);
  await waitUntil(() => streams.size === 2, 'the node has a stream of its own');
  await turnPage(page, 'hidden');
  await waitUntil(() => streams.size === 0, 'both streams are closed');
  const read = page.waitForRequest((request) => request.url().endsWith('/admin/v1/cluster'));
  await turnPage(page, 'visible');
  await waitUntil(() => streams.size === 2, 'both streams are open again');
  await read;
  expect(await page.getByText('Connection lost').count()).toBe(0);
  expect(tab.errors).toEqual([]);
});

it('what a page may have missed while nobody saw it is read anew', async () => {
  const tab = await openTab();
  const { page } = tab;
  const streams = watchStreams(page);
  await signIn(tab, gateway(), '#/events');
  await page.getByText('There are no events yet').waitFor();
  await waitUntil(() => streams.size === 1, 'the stream is open');
  const look = page.getByRole('button', { name: 'Look for new events' });
  expect(await look.count()).toBe(0);
  await turnPage(page, 'hidden');
  await waitUntil(() => streams.size === 0, 'the stream is closed');
  await turnPage(page, 'visible');
  await look.waitFor();
  const read = page.waitForResponse((response) => response.url().includes('/limit-events?'));
  await look.click();
  await read;
  await look.waitFor({ state: 'detached' });
  expect(tab.errors).toEqual([]);
});

it('what a page may have missed before anybody saw it is read anew', async () => {
  const tab = await openTab();
  const { page } = tab;
  await page.addInitScript(
    `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });`,
  );
  await signIn(tab, gateway(), '#/events');
  await page.getByText('There are no events yet').waitFor();
  const look = page.getByRole('button', { name: 'Look for new events' });
  expect(await look.count()).toBe(0);
  await turnPage(page, 'visible');
  await look.waitFor();
  expect(tab.errors).toEqual([]);
});

/** Windows of one browser, which is signed in. */
async function openWindows(count: number): Promise<[Page, ...Page[]]> {
  const { page } = await openTab();
  const token = JSON.stringify(readAdminToken(gateway()));
  const context = page.context();
  await context.addInitScript(`sessionStorage.setItem('tollgate-admin-token', ${token})`);
  const pages: [Page, ...Page[]] = [page];
  while (pages.length < count) pages.push(await context.newPage());
  return pages;
}

const isWaiting = (page: Page) => page.getByText('Other windows of this browser').count();

it('what a window may have missed while it waited for a stream is read anew', async () => {
  const pages = await openWindows(5);
  for (const page of pages) {
    await page.goto(`${gateway().opsUrl}/#/events`);
    await page.getByText('There are no events yet').waitFor();
  }
  const [first] = pages;
  const last = pages.at(-1) ?? first;
  const look = last.getByRole('button', { name: 'Look for new events' });
  await waitUntil(async () => (await isWaiting(last)) === 1, 'the last window waits');
  expect(await look.count()).toBe(0);
  await first.close();
  await look.waitFor();
});

it('seven visible windows of a browser all work, and those without live figures say so', async () => {
  const account = await admin(gateway()).createAccount();
  const [first, ...others] = await openWindows(7);
  const pages = [first, ...others];
  for (const page of pages) {
    await page.goto(`${gateway().opsUrl}/#/accounts/${account}`);
    await page.getByRole('heading', { name: 'Limits now' }).waitFor();
  }
  const countWaiting = async () => {
    const counts = await Promise.all(pages.map(isWaiting));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  await waitUntil(async () => (await countWaiting()) === 3, 'three windows wait for a stream');
  expect(await isWaiting(first)).toBe(0);
  pages.shift();
  await first.close();
  await waitUntil(async () => (await countWaiting()) === 2, 'one of them has got it');
});
