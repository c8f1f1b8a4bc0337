import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Gateway } from './start-gateway.ts';

/** The engine without a window takes a third less CPU time than the whole browser. */
const CHROMIUM = '/usr/bin/chromium-headless-shell';

export interface Tab {
  readonly page: Page;
  /** Errors on the console and in scripts that no test has taken yet. */
  readonly errors: string[];
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    // Chromium's sandbox does not run as root, and containers have little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
}

/**
 * Starts one Chromium for all tests of a file. Call it at the top of the file. Each tab is a
 * separate browser session.
 */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<Tab> {
  let browser: Browser | undefined;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
  });
  return async (options = {}) => {
    if (browser === undefined) throw new Error('the browser has not started');
    const context = await browser.newContext(options);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(90_000);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    return { page, errors };
  };
}

export function readAdminToken(gateway: Gateway): string {
  return readFileSync(join(gateway.dataDir, 'admin-token'), 'utf8').trim();
}

/** Opens the dashboard as a user with the admin token. */
export async function signIn(
  { page }: Pick<Tab, 'page'>,
  gateway: Gateway,
  hash = '',
): Promise<void> {
  await page.goto(`${gateway.opsUrl}/${hash}`);
  await page.getByLabel('Admin token').fill(readAdminToken(gateway));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** The accessibility problems that axe finds on the page in its current state. */
export async function expectAccessible({ page }: Tab): Promise<void> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as { violations: Violation[] };
  const grave = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
  expect(grave).toEqual([]);
}
