import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { admin } from '../support/clients/admin.ts';
import { askModel, messageOf } from '../support/clients/ask-model.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { expectAccessible, type Tab, useBrowser } from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { FAST_CONFIG, useGateway } from '../support/use-gateway.ts';

const LIBRARIES = { openai: 'openai', '@anthropic-ai/sdk': 'anthropic-sdk-1' };

const gateway = useGateway({ config: FAST_CONFIG });
const openTab = useBrowser();
const run = promisify(execFile);

async function showKey({ page }: Tab, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Show my key' }).click();
}

const figure = ({ page }: Tab, name: string) =>
  page.locator('.figures div', { hasText: name }).locator('dd');

async function copyExample({ page }: Tab, title: string): Promise<string> {
  const button = page.getByRole('button', { name: `Copy ${title}` });
  await button.click();
  await button.locator('..').getByText('Copied.').waitFor();
  return (await page.evaluate('navigator.clipboard.readText()')) as string;
}

/** A folder in which the libraries are installed. */
function createProject(): string {
  const dir = createTempDir();
  mkdirSync(join(dir, 'node_modules/@anthropic-ai'), { recursive: true });
  for (const [name, installed] of Object.entries(LIBRARIES)) {
    symlinkSync(resolve('node_modules', installed), join(dir, 'node_modules', name));
  }
  return dir;
}

/** Serves only paths below the given path from the root of the target. */
async function startPathProxy(path: string, target: string): Promise<string> {
  const server = createServer(({ url = '', headers }, response) => {
    const forwarded = url.startsWith(path) ? `/${url.slice(path.length)}` : '/nothing-here';
    const upstream = request(target + forwarded, { headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.end();
  });
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runExample(dir: string, text: string, key: string): Promise<string> {
  const file = join(dir, 'example.mjs');
  writeFileSync(file, text);
  const [program, ...args] = text.startsWith('curl')
    ? ['sh', '-c', text]
    : [process.execPath, file];
  const env = { PATH: process.env['PATH'], TOLLGATE_KEY: key };
  const { stdout } = await run(program, args, { cwd: dir, env });
  return stdout;
}

it('its examples answer as they are copied, with the address of the gateway and a model of the key', async () => {
  const tab = await openTab({ permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = tab;
  await page.goto(`${gateway().url}/?from=mail`);
  const curl = page.getByRole('region', { name: 'Native messages with curl' });
  expect(await curl.textContent()).toContain(`curl ${gateway().url}/v1/messages \\`);
  expect(await curl.textContent()).toContain('"model": "MODEL"');

  const owner = admin(gateway());
  const account = await owner.createAccount();
  const { key } = await owner.createKey(account, { models: ['haiku', 'llm-sonnet-4.6'] });
  await showKey(tab, key);
  await page.getByLabel('Model').selectOption('haiku');
  const dir = createProject();
  const answers = {
    'Native messages with curl': /"type":"message".*"text":"\w/,
    'Native messages with @anthropic-ai/sdk': /^\w/,
    'Chat completions with curl': /"object":"chat.completion".*"content":"\w/,
    'Chat completions with openai': /^\w/,
    'Responses with curl': /"object":"response".*"text":"\w/,
    'Responses with openai': /^\w/,
  };
  for (const [title, answer] of Object.entries(answers)) {
    const text = await copyExample(tab, title);
    expect(text).toContain('haiku');
    expect(text).not.toContain(key);
    expect(await runExample(dir, text, key), title).toMatch(answer);
  }
  const options = await page.getByLabel('Model').locator('option').allTextContents();
  expect(options).not.toContain('opus');
  expect(tab.errors).toEqual([]);
});

it('below a path of a proxy it finds its files and the API, and its examples name that path', async () => {
  const proxyUrl = await startPathProxy('/models/', gateway().url);
  const tab = await openTab();
  await tab.page.goto(`${proxyUrl}/models/`);
  const curl = tab.page.getByRole('region', { name: 'Chat completions with curl' });
  expect(await curl.textContent()).toContain(`curl ${proxyUrl}/models/v1/chat/completions \\`);
  await showKey(tab, gateway().key());
  await figure(tab, 'Balance').waitFor();
  expect(tab.errors).toEqual([]);
});

it('a pasted key shows its limits, spend and balance, and is kept in memory alone', async () => {
  const owner = admin(gateway());
  const account = await owner.createAccount({ credits: 50 });
  const { key, id } = await owner.createKey(account, { rpm: 7, monthly_cap: 20, concurrency: 3 });
  const tab = await openTab();
  const { page } = tab;
  await page.goto(gateway().url);
  await page.getByLabel('API key').focus();
  await page.keyboard.insertText(`  ${key}\n`);
  await page.keyboard.press('Enter');
  await figure(tab, 'Balance').filter({ hasText: /^50$/ }).waitFor();
  expect(await figure(tab, 'Monthly cap').textContent()).toBe('20');
  expect(await figure(tab, 'Key: requests left').textContent()).toBe('7 of 7');
  expect(await figure(tab, 'Requests at once').textContent()).toBe('0 of 3');
  expect(await figure(tab, 'Spent in').textContent()).toBe('0');
  expect(await page.getByRole('region', { name: 'What the key has' }).textContent()).toContain(id);
  expect(await page.getByText('never').count()).toBe(1);

  await askModel(gateway().url, key, messageOf('Hello!'));
  await owner.waitUntilSettled(account);
  const { spent_this_month: spent } = await owner.key(id);
  await page.getByRole('button', { name: 'Show my key' }).click();
  await figure(tab, 'Key: requests left').filter({ hasText: '6 of 7' }).waitFor();
  expect(Number(await figure(tab, 'Spent in').textContent())).toBe(spent);
  expect(Number(await figure(tab, 'Balance').textContent())).toBeCloseTo(50 - spent, 6);

  const kept = '[localStorage.length, sessionStorage.length, document.cookie, location.href]';
  expect(await page.evaluate(kept)).toEqual([0, 0, '', `${gateway().url}/`]);
  await page.getByRole('button', { name: 'Forget it' }).click();
  await figure(tab, 'Balance').waitFor({ state: 'detached' });
  expect(await page.getByLabel('API key').inputValue()).toBe('');
  expect(tab.errors).toEqual([]);
});

it('a key that is forgotten while it is read shows nothing', async () => {
  const owner = admin(gateway());
  const { key } = await owner.createKey(await owner.createAccount({ credits: 10 }));
  const tab = await openTab();
  const { page } = tab;
  await page.goto(gateway().url);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/v1/key', async (route) => {
    await held;
    await route.continue();
  });
  await showKey(tab, key);
  await page.getByRole('button', { name: 'Reading…' }).waitFor();
  await page.getByRole('button', { name: 'Forget it' }).click();
  const models = page.waitForResponse('**/v1/models?*');
  release();
  await (await models).finished();
  await page.getByRole('button', { name: 'Show my key' }).waitFor();
  expect(await figure(tab, 'Balance').count()).toBe(0);
  expect(tab.errors).toEqual([]);
});

it('the page of a key shows each of its limits with a bar', async () => {
  const owner = admin(gateway());
  const account = await owner.createAccount({ credits: 10 });
  const limits = [{ unit: 'output_tokens', window: 'day', amount: 100_000 }];
  const { key } = await owner.createKey(account, { limits });
  expect((await askModel(gateway().url, key, messageOf('Hi'))).status).toBe(200);
  await owner.waitUntilSettled(account);
  const tab = await openTab();
  await tab.page.goto(gateway().url);
  await showKey(tab, key);
  const meter = tab.page.getByRole('meter', { name: 'This key: output tokens, day' });
  await meter.waitFor();
  expect(await meter.getAttribute('max')).toBe('100000');
  expect(Number(await meter.getAttribute('value'))).toBeGreaterThan(0);
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});

it('a key that cannot be shown is explained beside the field: unknown, revoked, throttled, no answer', async () => {
  const guarded = await startGateway({
    config: `${FAST_CONFIG}guards: {failed_keys_per_minute: 2}\n`,
  });
  const tab = await openTab();
  await tab.page.goto(guarded.url);
  const explained = (text: string | RegExp) =>
    tab.page.getByRole('alert').filter({ hasText: text }).waitFor();

  await showKey(tab, 'sk-gw2-…');
  await explained('A key has letters, digits and hyphens only');
  const owner = admin(guarded);
  const { id, key } = await owner.createKey(await owner.createAccount());
  await showKey(tab, key);
  await figure(tab, 'Balance').waitFor();
  await owner.revoke(id);
  await showKey(tab, key);
  await explained('This API key has been revoked. Ask whoever gave it to you for another one.');
  expect(await figure(tab, 'Balance').count()).toBe(0);

  await showKey(tab, 'sk-gw2-of-somebody');
  await explained('This gateway does not know the key.');
  expect(await tab.page.getByLabel('API key').getAttribute('aria-invalid')).toBe('true');
  await showKey(tab, 'sk-gw2-of-nobody');
  await explained('This gateway does not know the key.');
  await expectThrottled(tab, guarded);

  guarded.signal('SIGTERM');
  await guarded.waitForExit();
  await showKey(tab, key);
  await explained('The node cannot be reached. Try again in a moment.');
});

/** Guesses are counted until the page reports too many wrong keys. */
async function expectThrottled(tab: Tab, { url }: Gateway): Promise<void> {
  const guess = { headers: { 'x-api-key': 'sk-gw2-guessed' } };
  for (let tries = 0; tries < 3; tries += 1) await fetch(`${url}/v1/key`, guess);
  await showKey(tab, 'sk-gw2-guessed');
  const words = /Too many requests with keys that do not exist\. Try again in \d+ s\./;
  await tab.page.getByRole('alert').filter({ hasText: words }).waitFor();
}

it.each(['light', 'dark'] as const)(
  'it fits a phone, and keeps nobody out (%s)',
  async (colorScheme) => {
    const tab = await openTab({ colorScheme, viewport: { width: 360, height: 640 } });
    const { page } = tab;
    await page.goto(gateway().url);
    await page.getByRole('heading', { name: 'Using this gateway' }).waitFor();
    await expectAccessible(tab);
    await showKey(tab, gateway().key());
    await figure(tab, 'Balance').waitFor();
    await page.getByLabel('Model').waitFor();
    await expectAccessible(tab);
    const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
    expect(await page.evaluate(widths)).toEqual([360, 360]);
    await page.setViewportSize({ width: 1024, height: 700 });
    await showKey(tab, 'sk-gw2-of-nobody');
    await page.getByRole('alert').waitFor();
    await expectAccessible(tab);
  },
);
