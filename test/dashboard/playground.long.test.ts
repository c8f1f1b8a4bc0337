import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { HAIKU, messageOf } from '../support/clients/ask-model.ts';
import {
  expectAccessible,
  readAdminToken,
  signIn,
  useBrowser,
} from '../support/servers/start-browser.ts';
import { type Gateway, startGateway } from '../support/servers/start-gateway.ts';
import { eventsOf, pieceOf } from '../support/upstreams/flood-events.ts';
import {
  startWaitingUpstream,
  type WaitingCall,
  type WaitingUpstream,
} from '../support/upstreams/start-waiting-upstream.ts';
import { streamParts, USAGE } from '../support/upstreams/upstream-answers.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';

const PIECE_BYTES = 20;

const cleanUp = useCleanUp();
const openTab = useBrowser();
let upstream: WaitingUpstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startWaitingUpstream({ cleanUp });
  const model = 'max_output_tokens: 8192, price: {input: 1, output: 5}';
  gateway = await startGateway({
    cleanUp,
    config: `
workers: 1
models:
  - {id: ${HAIKU}, ${model}, routes: [{upstream: simulated}]}
  - {id: of-native, ${model}, routes: [{upstream: native}]}
  - {id: of-responses, ${model}, routes: [{upstream: responses}]}
upstreams:
  - {name: simulated, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
  - {name: native, kind: native, url: "${upstream.url}"}
  - {name: responses, kind: responses, url: "${upstream.url}"}
`,
  });
});

/** The request that the upstream gets when the form is sent. */
async function sendUpstream(page: Page): Promise<WaitingCall> {
  const before = upstream.calls.length;
  await page.getByRole('button', { name: 'Send' }).click();
  await waitUntil(() => upstream.calls.length > before, 'the upstream is asked');
  return upstream.calls[before] as WaitingCall;
}

const answerOf = (page: Page) => ({
  text: page.getByRole('region', { name: 'Text' }),
  raw: page.getByRole('region', { name: 'As it came' }),
  fact: (name: string) => page.locator('.facts div', { hasText: name }).locator('dd'),
  header: (name: string) =>
    page.getByRole('table', { name: 'Headers of the answer' }).getByRole('row', { name }),
});

it('a stream is watched as it arrives, and cancelling it stops the upstream', async () => {
  const tab = await openTab({ viewport: { width: 360, height: 640 }, colorScheme: 'dark' });
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  await page.getByLabel('Key').fill(gateway.key());
  await page.getByLabel('Model').selectOption('of-native');
  await page.getByLabel('Prompt').fill('Tell me');
  await page.getByLabel('Output tokens at most').fill('50');
  const call = await sendUpstream(page);
  expect(JSON.parse(call.body)).toMatchObject({
    ...{ model: 'of-native', max_tokens: 50, stream: true },
    messages: [{ role: 'user', content: 'Tell me' }],
  });
  await page.getByText('Waiting for the answer…').waitFor();
  const events = eventsOf('native');
  call.res.writeHead(200, { 'content-type': 'text/event-stream' });
  call.res.write(events.begin());
  const { text, raw, fact, header } = answerOf(page);
  for (const number of [1, 2]) {
    call.res.write(events.say(number, PIECE_BYTES));
    await text.getByText(pieceOf(number, PIECE_BYTES)).waitFor();
  }
  await page.getByText('The answer arrives…').waitFor();
  expect(await text.textContent()).toBe(pieceOf(1, PIECE_BYTES) + pieceOf(2, PIECE_BYTES));
  expect(await raw.textContent()).toContain('event: content_block_delta\ndata: {');
  expect(await fact('Status').textContent()).toBe('200');
  await header('content-type text/event-stream').waitFor();
  expect(call.isBrokenOff()).toBe(false);

  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('The request was cancelled.').waitFor();
  await waitUntil(call.isBrokenOff, 'the upstream loses its connection');
  // The part that arrived was charged, as its receipt says.
  await fact('Charge')
    .getByText(/^0\.\d+ credits$/)
    .waitFor();
  await expectAccessible(tab);
  const widths = '[document.documentElement.scrollWidth, document.documentElement.clientWidth]';
  expect(await page.evaluate(widths)).toEqual([360, 360]);
  expect(tab.errors).toEqual([]);
});

it('a body of JSON is sent as it stands, in the other format, and its charge is told', async () => {
  const tab = await openTab();
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  const { text, raw, fact, header } = answerOf(page);
  await page.getByLabel('Key').fill(gateway.key());
  await page.getByLabel('Format').selectOption('chat completions');
  await page.getByLabel('Prompt').fill('from the form');
  await page.getByLabel('Edit the body as JSON').check();
  const body = page.getByLabel('Body', { exact: true });
  expect(JSON.parse(await body.inputValue())).toMatchObject({
    messages: [{ content: 'from the form' }],
  });
  await body.fill(JSON.stringify(messageOf('[[tokens 7]]')));
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The answer is complete.').waitFor();
  const { choices } = JSON.parse((await raw.textContent()) ?? '') as {
    choices: { message: { content: string } }[];
  };
  expect(choices[0]?.message.content).toMatch(/./);
  expect(await text.textContent()).toBe(choices[0]?.message.content);
  const charge = (await fact('Charge').textContent()) ?? '';
  expect(charge).toMatch(/^0\.\d+ credits$/);
  await header(`x-tollgate-credits-charged ${charge.split(' ')[0]}`).waitFor();
  await header('x-ratelimit-limit-requests').waitFor();
  await expectAccessible(tab);

  const address = page.url();
  await fact('Request').getByRole('link').click();
  await page.getByRole('heading', { name: 'Receipt' }).waitFor();
  const receiptFact = answerOf(page).fact('Charged').first();
  expect(await receiptFact.textContent()).toBe(charge);
  await page.goto(address);
  // A returning user finds no key: the page kept it only in memory.
  expect(await page.getByLabel('Key').inputValue()).toBe('');
  const stored = await page.evaluate(
    'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])',
  );
  expect(JSON.parse(String(stored))).toEqual([
    {
      'tollgate-admin-token': readAdminToken(gateway),
      'tollgate-operator': expect.stringContaining('admin_token'),
    },
    {},
  ]);
  expect(stored).not.toContain('sk-gw2-');
  expect(tab.errors).toEqual([]);
});

it('refusals of the API are shown as they came, and nobody is signed out by them', async () => {
  const tab = await openTab();
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  const { raw, fact } = answerOf(page);
  const send = page.getByRole('button', { name: 'Send' });
  await page.getByLabel('Key').fill('sk-gw2-nobody');
  await send.click();
  await fact('Status').getByText('401').waitFor();
  await raw.getByText('"authentication_error"').waitFor();
  await fact('Charge').getByText('nothing: it was refused before it was admitted').waitFor();

  await page.getByLabel('Key').fill(gateway.key());
  await page.getByLabel('Edit the body as JSON').check();
  await page.getByLabel('Body', { exact: true }).fill('{"model":');
  await send.click();
  await fact('Status').getByText('400').waitFor();
  await raw.getByText('"invalid_request_error"').waitFor();

  // The node itself refuses this body: it is larger than the node passes on.
  await page.getByLabel('Body', { exact: true }).fill('a'.repeat(70_000));
  await send.click();
  await page.getByRole('alert').filter({ hasText: 'the body has more than 65536 bytes' }).waitFor();
  await page.getByText('There is no whole answer.').waitFor();
  expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(1);
  // The browser logs each refusal, and nothing else.
  const others = tab.errors.filter((error) => !/status of (401|400|404|413)/.test(error));
  expect(others).toEqual([]);
});

type Item = { readonly content: readonly { readonly text: string }[] };

async function fillResponses(page: Page, key: string, prompt: string, model = HAIKU) {
  await page.getByLabel('Model').selectOption(model);
  await page.getByLabel('Key').fill(key);
  await page.getByLabel('Format').selectOption('Responses');
  await page.getByLabel('Prompt').fill(prompt);
}

const send = (page: Page) => page.getByRole('button', { name: 'Send' }).click();

it('a stream of the Responses format is watched as it arrives', async () => {
  const tab = await openTab();
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  await fillResponses(page, gateway.key(), 'Tell me', 'of-responses');
  await page.getByLabel('Output tokens at most').fill('50');
  const call = await sendUpstream(page);
  expect(JSON.parse(call.body)).toMatchObject({
    ...{ input: 'Tell me', max_output_tokens: 50, stream: true, store: false },
  });
  await page.getByText('Waiting for the answer…').waitFor();

  const { text, raw, fact } = answerOf(page);
  const { begin, say, end } = streamParts('responses');
  call.res.writeHead(200, { 'content-type': 'text/event-stream' });
  call.res.write(begin + say('Once'));
  await text.getByText('Once').waitFor();
  await page.getByText('The answer arrives…').waitFor();
  call.res.write(say(' upon a time.'));
  await text.getByText('Once upon a time.').waitFor();
  expect(await raw.textContent()).not.toContain('response.completed');
  call.res.end(end(USAGE));
  await page.getByText('The answer is complete.').waitFor();
  expect(await text.textContent()).toBe('Once upon a time.');
  expect(await raw.textContent()).toContain('event: response.completed\ndata: {');
  await fact('Charge')
    .getByText(/^0\.\d+ credits$/)
    .waitFor();
  await expectAccessible(tab);
  expect(tab.errors).toEqual([]);
});

it('a whole answer of the Responses format shows its text and its charge', async () => {
  const tab = await openTab();
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  const { text, raw, fact, header } = answerOf(page);
  await fillResponses(page, gateway.key(), '[[thinking]] [[tokens 7]]');
  await page.getByLabel('Stream the answer').uncheck();
  await page.getByLabel('Edit the body as JSON').check();
  const body = page.getByLabel('Body', { exact: true });
  expect(JSON.parse(await body.inputValue())).toMatchObject({
    ...{ input: '[[thinking]] [[tokens 7]]', stream: false, store: false },
  });
  await send(page);
  await page.getByText('The answer is complete.').waitFor();
  const { output } = JSON.parse((await raw.textContent()) ?? '') as { readonly output: Item[] };
  // The first item is what the model thought, which is no part of its text.
  expect(output).toMatchObject([{ type: 'reasoning' }, { type: 'message' }]);
  expect(await text.textContent()).toBe(output[1]?.content[0]?.text);
  const charge = (await fact('Charge').textContent()) ?? '';
  expect(charge).toMatch(/^0\.\d+ credits$/);
  await header(`x-tollgate-credits-charged ${charge.split(' ')[0]}`).waitFor();
  expect(tab.errors).toEqual([]);
});

it('failures of the Responses format are shown as they came, before and within a stream', async () => {
  const tab = await openTab();
  await signIn(tab, gateway, '#/playground');
  const { page } = tab;
  const { text, raw, fact } = answerOf(page);
  await fillResponses(page, 'sk-gw2-nobody', 'Hi');
  await send(page);
  await fact('Status').getByText('401').waitFor();
  await raw.getByText('"invalid_api_key"').waitFor();

  await fillResponses(page, gateway.key(), '[[tokens 9]] [[error 500 after 3]]');
  await send(page);
  await page.getByText('There is no whole answer.').waitFor();
  await page.getByRole('alert').filter({ hasText: 'the answer broke off' }).waitFor();
  await page
    .getByRole('alert')
    .filter({ hasText: 'Simulated error: Internal server error' })
    .waitFor();
  expect(await fact('Status').textContent()).toBe('200');
  expect(await text.textContent()).toMatch(/./);
  const told = (await raw.textContent()) ?? '';
  expect(told).toContain('event: error\ndata: {');
  expect(told.lastIndexOf('event: response.failed')).toBeGreaterThan(told.indexOf('event: error'));
  await fact('Charge')
    .getByText(/^0\.\d+ credits$/)
    .waitFor();
  await expectAccessible(tab);
  // The browser logs the refusal, and that it has no receipt. It logs nothing else.
  expect(tab.errors.filter((error) => !/status of (401|404)/.test(error))).toEqual([]);
});
