import type { Page } from 'playwright-core';
import type { Scene } from './create-scene.ts';

export interface Screenshot {
  /** The file name without its extension. */
  readonly name: string;
  /** The path on the dashboard, after the address of the node. */
  readonly place: (scene: Scene) => string;
  readonly colorScheme?: 'light' | 'dark';
  /**
   * What a reader would do first on the page. If the page cannot do it yet, the picture shows the
   * page unchanged.
   */
  readonly prepare?: (page: Page, scene: Scene) => Promise<void>;
}

export const SCREENSHOT_DIR = 'src/dashboard/screenshots';
export const SCREENSHOTS_MAX = 8;
export const SCREENSHOT_BYTES_MAX = 120 * 1024;

/** Pages for operators. The page for key owners is taken separately. */
export const DASHBOARD_SCREENSHOTS: readonly Screenshot[] = [
  { name: 'overview', place: () => '#/overview', prepare: showLive },
  { name: 'accounts', place: () => '#/accounts' },
  { name: 'account', place: ({ account }) => `#/accounts/${account}` },
  { name: 'key', place: ({ keyId }) => `#/keys/${keyId}` },
  { name: 'request', place: ({ requestId }) => `#/requests/${requestId}` },
  { name: 'upstreams', place: () => '#/upstreams', colorScheme: 'dark' },
  { name: 'playground', place: () => '#/playground', prepare: askInPlayground },
];

export const KEY_PAGE_SCREENSHOT = 'key-owners';

const FIRST_STEP_TIME_MAX_MS = 5_000;

async function showLive(page: Page): Promise<void> {
  await page.getByRole('img', { name: /^Credits a minute\. credits: [\d.]+ now/ }).waitFor();
  const live = page.getByRole('heading', { name: 'Live' });
  await live.evaluate((heading) => heading.scrollIntoView());
}

async function askInPlayground(page: Page, { key }: Scene): Promise<void> {
  page.setDefaultTimeout(FIRST_STEP_TIME_MAX_MS);
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The answer is complete.').waitFor();
  await page.getByRole('region', { name: 'Text' }).scrollIntoViewIfNeeded();
}
