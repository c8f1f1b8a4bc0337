import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Route } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { listPageFiles } from '../support/read-docs.ts';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const BUILD = 'dist/src/docs';
const OUTSIDE = ['running', 'benchmarks', 'about'];
const NAMES = [...listPageFiles().map((file) => basename(file, '.md')), ...OUTSIDE];
const WIDTH = 390;
const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

const ask = (path: string, options?: RequestInit) =>
  fetch(gateway().opsUrl + path, { redirect: 'manual', ...options });

const pathOf = (name: string) => (name === '' ? '/docs' : `/docs/${name}`);

/** Links to other pages of the documentation, and to parts of them. */
const linksOf = (html: string) =>
  [...html.matchAll(/<a [^>]*href="((?:#|\/docs)[^"]*)"/g)].map(([, link = '']) => link);

async function readPage(name: string): Promise<string> {
  const response = await ask(pathOf(name));
  expect([name, response.status]).toEqual([name, 200]);
  return response.text();
}

describe('the documentation on the listener for operators', () => {
  it('has every page, without a token and with the headers of the dashboard', async () => {
    const dashboard = await ask('/');
    for (const path of ['/docs', ...NAMES.map((name) => `/docs/${name}`)]) {
      const { status, headers } = await ask(path);
      expect([path, status]).toEqual([path, 200]);
      for (const name of [
        ...['content-security-policy', 'content-type', 'cache-control'],
        ...['x-content-type-options', 'referrer-policy'],
      ]) {
        expect(headers.get(name), name).toBe(dashboard.headers.get(name));
      }
    }
  });

  it('has nothing else: other paths lead nowhere', async () => {
    for (const path of [
      ...['/docs/no-such-page', '/docs/index', '/docs/settings.html', '/docs/README'],
      ...['/docs/assets/', '/docs/..%2fdashboard', '/docs/settings/'],
    ]) {
      expect((await ask(path)).status, path).toBe(404);
    }
    const slash = await ask('/docs/');
    expect([slash.status, slash.headers.get('location')]).toEqual([308, '/docs']);
    expect((await ask('/docs', { method: 'POST' })).status).toBe(405);
    expect(readdirSync(BUILD).toSorted()).toEqual(
      ['assets', 'index.html', ...NAMES.map((name) => `${name}.html`)].toSorted(),
    );
  });

  it('has files that browsers may keep, and pages with nothing inline or from elsewhere', async () => {
    for (const name of ['', ...NAMES]) {
      const html = await readPage(name);
      expect(html, name).not.toMatch(/<style|\sstyle=|<script[^>]*>[^<]|\son\w+=/);
      for (const [, url = ''] of html.matchAll(/ (?:src|data-index)="([^"]*)"/g)) {
        const { status, headers } = await ask(url);
        expect([url, status]).toEqual([url, 200]);
        expect(headers.get('cache-control')).toContain('immutable');
      }
    }
  });

  it('has links that lead somewhere', async () => {
    const pages = new Map<string, string>();
    for (const name of ['', ...NAMES]) pages.set(pathOf(name), await readPage(name));
    for (const [page, html] of pages) {
      for (const link of linksOf(html)) {
        const [path = '', anchor] = link.split('#');
        const target = pages.get(path === '' ? page : path);
        expect(target, `${link} on ${page}`).toBeDefined();
        if (anchor !== undefined) expect(target, `${link} on ${page}`).toContain(`id="${anchor}"`);
      }
    }
  });

  it('says so while it has not been built', async () => {
    const { loadDocs } = await import('../../src/ops/load-docs.ts');
    expect([...loadDocs('no-such-folder')]).toEqual([
      ['/docs', expect.objectContaining({ status: 404 })],
    ]);
  });
});

describe('the documentation in a browser', () => {
  it('is found by words, with nothing from elsewhere and nothing on the console', async () => {
    const { page, errors } = await openTab();
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await page.goto(`${gateway().opsUrl}/docs`);
    const search = page.getByRole('searchbox', { name: 'Search the documentation' });
    await search.fill('clock audit');
    await page.getByRole('heading', { name: /^Found in / }).waitFor();
    await page.getByRole('link', { name: 'Admin API › The audit log' }).click();
    await page.getByRole('heading', { name: 'The audit log' }).waitFor();
    expect(page.url()).toBe(`${gateway().opsUrl}/docs/admin-api#the-audit-log`);
    await page.locator('[aria-current="page"]', { hasText: 'Admin API' }).waitFor();

    await search.fill('tollgate_workers_silent_total');
    await search.press('Enter');
    await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor();
    await search.fill('nothing-has-this-word');
    await page.getByRole('heading', { name: 'Nothing found' }).waitFor();
    await search.fill('');
    await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor();

    await page.goto(`${gateway().opsUrl}/docs/benchmarks`);
    await page.getByRole('img', { name: 'Paced streams' }).waitFor();
    expect([...hosts]).toEqual([gateway().opsUrl]);
    expect(errors).toEqual([]);
  });

  it('opens what Enter asks for, though its index comes later', async () => {
    const { page, errors } = await openTab();
    await page.goto(`${gateway().opsUrl}/docs/security`);
    const kept: Route[] = [];
    await page.route('**/search-index-*.json', (route) => void kept.push(route));
    const search = page.getByRole('searchbox', { name: 'Search the documentation' });
    await search.fill('tollgate_workers_silent_total');
    await search.press('Enter');
    await expect.poll(() => kept).toHaveLength(1);
    await kept[0]?.continue();
    await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor();
    expect(errors).toEqual([]);
  });

  it('is linked from the dashboard, and leads back', async () => {
    const { page } = await openTab();
    await page.goto(gateway().opsUrl);
    await page.getByRole('link', { name: 'Documentation' }).click();
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Dashboard' }).first().click();
    await page.getByLabel('Admin token').waitFor();
    await signIn({ page }, gateway());
    await page.getByRole('link', { name: 'Docs' }).click();
    await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor();
  });

  it(`fits a screen of ${WIDTH} px: no page scrolls sideways`, async () => {
    const { page } = await openTab({ viewport: { width: WIDTH, height: 800 } });
    for (const name of ['', ...NAMES]) {
      await page.goto(gateway().opsUrl + pathOf(name));
      expect([name, await page.evaluate(OVERFLOW)]).toEqual([name, 0]);
    }
  });

  it.each(['light', 'dark'] as const)('has no grave finding of axe (%s)', async (colorScheme) => {
    const tab = await openTab({ colorScheme });
    for (const name of ['', 'settings', 'metrics', 'running', 'benchmarks']) {
      await tab.page.goto(gateway().opsUrl + pathOf(name));
      await expectAccessible(tab);
    }
    const dark = await tab.page.evaluate('getComputedStyle(document.body).backgroundColor');
    expect(dark).toBe(colorScheme === 'dark' ? 'rgb(20, 23, 28)' : 'rgb(247, 248, 250)');
    await tab.page.getByRole('searchbox').fill('redis');
    await tab.page.getByRole('heading', { name: /^Found in / }).waitFor();
    await expectAccessible(tab);
  });

  it('is shipped without the program that renders it', () => {
    expect(existsSync('dist/src/build')).toBe(false);
    expect(readdirSync(BUILD, { recursive: true })).not.toContain('search.js');
  });

  it('keeps its search index small', () => {
    const [index = ''] = readdirSync(`${BUILD}/assets`).filter((name) => name.endsWith('.json'));
    expect(readFileSync(`${BUILD}/assets/${index}`).length).toBeLessThan(512 * 1024);
  });
});
