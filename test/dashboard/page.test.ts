import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectAccessible, signIn, useBrowser } from '../support/servers/start-browser.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const BUILD = 'dist/src/dashboard';
const COMPRESSED_BYTES_MAX = 150 * 1024;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();

describe('the files of the dashboard', () => {
  const files = readdirSync(BUILD, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(BUILD.length));

  it('are small, and have nothing inline or from elsewhere', () => {
    const sizes = files.map((file) => gzipSync(readFileSync(BUILD + file)).length);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
    const html = readFileSync(`${BUILD}/index.html`, 'utf8');
    expect(html).not.toMatch(/<style|\sstyle=|<script[^>]*>[^<]|https?:|\son\w+=/);
  });

  it('are served with a strict policy, the right type and the right time to keep', async () => {
    for (const file of files) {
      const path = file === '/index.html' ? '/' : file;
      const { status, headers } = await fetch(gateway().opsUrl + path);
      expect([status, path]).toEqual([200, path]);
      expect(headers.get('content-security-policy')).toBe(POLICY);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      const type = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
      const [, ending = ''] = /\.(js|css|svg)$/.exec(path) ?? [];
      const wanted = ending in type ? type[ending as keyof typeof type] : 'text/html';
      expect(headers.get('content-type')).toContain(wanted);
      expect(headers.get('cache-control')).toContain(path === '/' ? 'no-cache' : 'immutable');
      const head = await fetch(gateway().opsUrl + path, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(head.headers.get('content-length')).toBe(headers.get('content-length'));
    }
  });

  it('are all there is: other paths lead nowhere', async () => {
    for (const path of ['/index.html', '/assets/', '/assets/..%2findex.html', '/main.tsx']) {
      expect((await fetch(gateway().opsUrl + path)).status, path).toBe(404);
    }
    expect((await fetch(`${gateway().opsUrl}/`, { method: 'POST' })).status).toBe(405);
  });
});

describe('the dashboard', () => {
  it('loads nothing from elsewhere, breaks no policy and says nothing on the console', async () => {
    const tab = await openTab();
    const { page, errors } = tab;
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).origin));
    await signIn(tab, gateway());
    await page.getByRole('img', { name: /requests: 0 now/ }).waitFor();
    await page.locator('canvas').first().waitFor();
    expect([...hosts]).toEqual([gateway().opsUrl]);
    expect(errors).toEqual([]);
  });

  it('moves the focus to the heading of the page that was opened', async () => {
    const tab = await openTab();
    await signIn(tab, gateway());
    const { page } = tab;
    await page.waitForFunction("document.title === 'Overview · Tollgate'");
    await page.getByRole('link', { name: 'Audit' }).click();
    await page.locator('h1:focus', { hasText: 'Audit' }).waitFor();
    await page.waitForFunction("document.title === 'Audit · Tollgate'");
    expect(await page.locator('[aria-current="page"]').allTextContents()).toEqual(['Audit']);
    await page.goBack();
    await page.locator('h1:focus', { hasText: 'Overview' }).waitFor();
    await page.goto(`${gateway().opsUrl}/#/keys/key_1`);
    await page.getByRole('heading', { name: 'Key', level: 1 }).waitFor();
    expect(await page.locator('[aria-current]').allTextContents()).toEqual(['Accounts']);
    await page.goto(`${gateway().opsUrl}/#/nowhere`);
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
  });

  it('lets the keyboard skip the navigation', async () => {
    const tab = await openTab();
    await signIn(tab, gateway());
    const { page } = tab;
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    await page.locator(':focus', { hasText: 'Skip to content' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('h1:focus').waitFor();
  });

  it('fits a phone', async () => {
    const tab = await openTab({ viewport: { width: 360, height: 640 } });
    await signIn(tab, gateway());
    await tab.page.getByRole('table', { name: 'All nodes on this Redis' }).waitFor();
    const widths = await tab.page.evaluate(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(widths).toEqual([360, 360]);
  });

  it.each(['light', 'dark'] as const)('has no grave finding of axe (%s)', async (colorScheme) => {
    const tab = await openTab({ colorScheme });
    const { page } = tab;
    await page.goto(gateway().opsUrl);
    await page.getByLabel('Admin token').waitFor();
    await expectAccessible(tab);
    await signIn(tab, gateway());
    await page.getByRole('table', { name: 'All nodes on this Redis' }).waitFor();
    await page.getByRole('img', { name: /requests: 0 now/ }).waitFor();
    await expectAccessible(tab);
    await page.getByRole('button', { name: 'Show as table' }).first().click();
    await expectAccessible(tab);
  });
});
