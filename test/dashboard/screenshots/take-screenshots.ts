import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, signIn } from '../../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createScene, SCENE_CONFIG, type Scene } from './create-scene.ts';
import {
  DASHBOARD_SCREENSHOTS,
  KEY_PAGE_SCREENSHOT,
  SCREENSHOT_BYTES_MAX,
  SCREENSHOT_DIR,
  type Screenshot,
} from './screenshots.ts';
import { sendTraffic } from './send-traffic.ts';

/**
 * `npm run screenshots`: takes the pictures for the documents from a real node with traffic of
 * client libraries.
 */
const VIEWPORT = { width: 1100, height: 720 };
const ANSWERS_BEFORE_MIN = 500;
const TRAFFIC_TIME_MAX_MS = 120_000;

async function openPage(browser: Browser, colorScheme: Screenshot['colorScheme'] = 'light') {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme });
  return context.newPage();
}

async function takeAll(browser: Browser, gateway: Gateway): Promise<void> {
  const scene = await createScene(gateway);
  const pages: [Screenshot, Page][] = [];
  for (const screenshot of DASHBOARD_SCREENSHOTS) {
    const page = await openPage(browser, screenshot.colorScheme);
    await signIn({ page }, gateway, screenshot.place(scene));
    pages.push([screenshot, page]);
  }
  const traffic = sendTraffic(gateway.url, scene.keys);
  const hasTraffic = () => traffic.answered() >= ANSWERS_BEFORE_MIN;
  await waitUntil(hasTraffic, 'there has been traffic', TRAFFIC_TIME_MAX_MS);
  // Taken while there is traffic, because live figures show the present.
  for (const [screenshot, page] of pages) await takeOne(page, screenshot, scene);
  await takeKeyPage(await openPage(browser), gateway, scene);
  await traffic.stop();
}

async function takeOne(page: Page, { name, prepare }: Screenshot, scene: Scene): Promise<void> {
  await page.bringToFront();
  await page.reload();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await prepare?.(page, scene).catch((error: unknown) => {
    console.log(`${name} is shown as it is: ${String(error).split('\n')[0]}`);
  });
  await save(page, name);
}

async function takeKeyPage(page: Page, gateway: Gateway, { key }: Scene): Promise<void> {
  await page.goto(gateway.url);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show my key' }).click();
  await page.getByLabel('Model').waitFor();
  await save(page, KEY_PAGE_SCREENSHOT);
}

async function save(page: Page, name: string): Promise<void> {
  const isLoaded = () => page.evaluate<boolean>("!document.body.textContent.includes('Loading…')");
  await waitUntil(isLoaded, `${name} has been read`);
  // The data that arrived last is drawn within two frames.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
  const path = join(SCREENSHOT_DIR, `${name}.png`);
  await page.screenshot({ path, animations: 'disabled', caret: 'hide' });
  const { size } = statSync(path);
  console.log(`${path} ${Math.ceil(size / 1024)} KB`);
  if (size <= SCREENSHOT_BYTES_MAX) return;
  console.log(`${path} is too large for the repository`);
  process.exitCode = 1;
}

const undos: (() => void | Promise<void>)[] = [];
try {
  mkdirSync(SCREENSHOT_DIR, { recursive: true });
  const cleanUp = (undo: () => void | Promise<void>) => undos.push(undo);
  const gateway = await startGateway({ config: SCENE_CONFIG, cleanUp });
  const browser = await launchBrowser();
  undos.push(() => browser.close());
  await takeAll(browser, gateway);
} finally {
  for (const undo of undos.reverse()) await undo();
}
