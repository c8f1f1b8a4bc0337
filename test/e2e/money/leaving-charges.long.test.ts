import { describe, expect, it } from 'vitest';
import type { FormatName } from '../../../src/protocol/format-names.ts';
import { admin } from '../../support/clients/admin.ts';
import {
  createLeavingClient,
  type LeavingClient,
  type Tokens,
} from '../../support/clients/leaving-client.ts';
import { scrape } from '../../support/clients/scrape.ts';
import { readPage } from '../../support/read-docs.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { type CountedCall, startCountingVendor } from '../../support/upstreams/counting-vendor.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The tokens of earlier answers with a count: from them the gateway knows how long a token is. */
const PRACTICE_TOKENS = 1_000;
const THINKING = { thinking: { type: 'enabled', budget_tokens: 3_000 } };
const CACHED = { cache_control: { type: 'ephemeral' } };

type Vendor = Awaited<ReturnType<typeof startCountingVendor>>;

function encodeConfig(vendor: Vendor, onLeave: string): string {
  const model = 'max_output_tokens: 4000, price: {input: 1, output: 5}';
  return [
    'workers: 1',
    `on_leave: ${onLeave}`,
    'models:',
    `  - {id: m, ${model}, routes: [{upstream: vendor}]}`,
    `  - {id: narrow, ${model}, routes: [{upstream: narrow}]}`,
    `  - {id: brief, ${model}, routes: [{upstream: brief}]}`,
    'upstreams:',
    `  - {name: vendor, kind: native, url: "${vendor.url}"}`,
    `  - {name: narrow, kind: native, url: "${vendor.url}", max_concurrency: 1}`,
    `  - {name: brief, kind: native, url: "${vendor.url}", timeouts: {total: 5s}}`,
    '',
  ].join('\n');
}

const isDraining = async (gateway: Gateway) =>
  (await scrape(gateway)).sum('tollgate_answers_draining') === 1;

const waitForDrain = (gateway: Gateway) =>
  waitUntil(() => isDraining(gateway), 'the answer is read on');

const waitForStop = ({ call }: CountedCall) =>
  waitUntil(call.isBrokenOff, 'the vendor is hung up on');

interface Scene {
  readonly gateway: Gateway;
  readonly vendor: Vendor;
  ask(more?: object, format?: FormatName): Promise<{ client: LeavingClient; call: CountedCall }>;
}

interface Outcome {
  readonly counted: Tokens;
  readonly charged: Tokens;
}

const sumUp = async (call: CountedCall, client: LeavingClient): Promise<Outcome> => {
  const { input, cacheWrite, output } = call.counted();
  return { counted: { input: input + cacheWrite, output }, charged: await client.charged() };
};

/** Plays one row of the table and returns the outcome. */
type Play = (scene: Scene) => Promise<Outcome>;

async function leaveBeforeSent({ gateway, vendor, ask }: Scene): Promise<Outcome> {
  const { client: first, call } = await ask({ model: 'narrow' });
  const client = await createLeavingClient(gateway, 'never sent', { model: 'narrow' });
  const isAdmitted = async () => (await admin(gateway).account(client.account)).held > 0;
  await waitUntil(isAdmitted, 'it waits for its vendor');
  client.leave();
  const charged = await client.charged();
  expect(vendor.hasCall('never sent')).toBe(false);
  call.begin();
  call.finish();
  await first.over;
  return { counted: { input: 0, output: 0 }, charged };
}

async function leaveBeforeFirstEvent({ ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask();
  client.leave();
  await waitForStop(call);
  return sumUp(call, client);
}

async function leaveBeforeCacheIsReported({ gateway, ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask(CACHED);
  client.leave();
  await waitForDrain(gateway);
  call.begin();
  await waitForStop(call);
  return sumUp(call, client);
}

async function leaveInText({ ask }: Scene, isInputReported = true): Promise<Outcome> {
  const { client, call } = await ask();
  if (isInputReported) call.begin();
  else call.beginUntold();
  call.say(100);
  await client.hasGot('word');
  client.leave();
  await waitForStop(call);
  return sumUp(call, client);
}

async function leaveInThoughts({ gateway, ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask(THINKING);
  call.begin();
  call.think(1_000);
  await client.hasGot('thinking');
  client.leave();
  await waitForDrain(gateway);
  call.think(1_000);
  call.say(100);
  call.reportUsage();
  call.finish();
  return sumUp(call, client);
}

async function leaveLongThoughts({ ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask(THINKING);
  call.begin();
  call.think(1_000);
  await client.hasGot('thinking');
  client.leave();
  await waitForStop(call);
  return sumUp(call, client);
}

async function leaveAtLastText({ gateway, ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask(THINKING);
  call.begin();
  call.think(2_000);
  call.say(100);
  await client.hasGot('word');
  client.leave();
  await waitForDrain(gateway);
  call.reportUsage();
  call.finish();
  return sumUp(call, client);
}

/** Its upstream has reported no usage when the time of the answer is over. */
async function readTooSlowly(scene: Scene, format: FormatName = 'native'): Promise<Outcome> {
  const { client, call } = await scene.ask({ model: 'brief' }, format);
  client.stopReading();
  call.begin();
  call.think(2_000);
  call.say(100);
  call.fillSockets();
  await waitForDrain(scene.gateway);
  call.reportUsage();
  call.finish();
  return sumUp(call, client);
}

async function leaveBehindUsage({ ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask();
  call.begin();
  call.say(100);
  call.reportUsage();
  // The event after the usage shows that the gateway has read the usage.
  call.call.res.write('event: ping\ndata: {"type":"ping","seen":"usage"}\n\n');
  await client.hasGot('"seen"');
  client.leave();
  await waitForStop(call);
  return sumUp(call, client);
}

async function leaveWhole({ gateway, ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask({ stream: false });
  client.leave();
  await waitForDrain(gateway);
  call.answerWhole(100);
  return sumUp(call, client);
}

async function failBeforeFirstEvent({ ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask();
  call.call.res.writeHead(400, { 'content-type': 'application/json' });
  call.call.res.end('{"type":"error","error":{"type":"invalid_request_error","message":"no"}}');
  await client.over;
  return { counted: { input: 0, output: 0 }, charged: await client.charged() };
}

async function failInText({ ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask();
  call.begin();
  call.say(100);
  await client.hasGot('word');
  call.breakOff();
  await client.over;
  return sumUp(call, client);
}

interface RunningReceipt {
  readonly state: string;
  readonly seen?: number;
}

/** The sweep of a dead worker's hold charges the cost that was noted last. */
async function killWorker({ gateway, ask }: Scene): Promise<Outcome> {
  const { client, call } = await ask();
  call.begin();
  call.say(100);
  await client.hasGot('word');
  const path = `/requests/${client.requestId()}`;
  let seen = 0;
  const isNoted = async () => {
    seen = (await admin(gateway).call<RunningReceipt>('GET', path)).seen ?? 0;
    return seen > 0;
  };
  await waitUntil(isNoted, 'its hold is renewed');
  const { input, output } = call.counted();
  client.leave();
  await waitForStop(call);
  const charged = { input, output: (seen * 1e6 - input) / 5 };
  return { counted: { input, output }, charged };
}

/** The names are the words of src/docs/limits-and-credits.md. */
const ROWS: Readonly<Record<string, Play>> = {
  'the client, before the request was sent upstream': leaveBeforeSent,
  'the client, before the first event': leaveBeforeFirstEvent,
  'the same, with `cache_control`': leaveBeforeCacheIsReported,
  'the client, in the middle of the text': leaveInText,
  'the same, if the upstream reports its input at the end': (scene) => leaveInText(scene, false),
  'the client, during hidden thoughts': leaveInThoughts,
  'the client, at the last text, when thoughts were hidden': leaveAtLastText,
  'the client, reading slowly until `timeouts.total`, when thoughts were hidden': readTooSlowly,
  'the client, after the usage, before the last event': leaveBehindUsage,
  'the client, before a JSON answer is there': leaveWhole,
  'the upstream, before the first event': failBeforeFirstEvent,
  'the upstream, in the middle of the text': failInText,
  'the worker, as recorded at the last renewal of the hold': killWorker,
};

const SLOW_ROW = 'the client, during hidden thoughts that last longer than `on_leave.timeout`';

const encodeTokens = ({ input, output }: Tokens) =>
  `${input.toLocaleString('en')} + ${output.toLocaleString('en')}`;

function encodeRow(name: string, { counted, charged }: Outcome): string {
  const difference = charged.input + charged.output - counted.input - counted.output;
  const sign = difference > 0 ? '+' : '';
  const shown = sign + difference.toLocaleString('en');
  return `| ${name} | ${encodeTokens(counted)} | ${encodeTokens(charged)} | ${shown} |`;
}

async function createScene(onLeave: string): Promise<Scene> {
  const vendor = await startCountingVendor();
  const gateway = await startGateway({ config: encodeConfig(vendor, onLeave) });
  let requests = 0;
  const ask: Scene['ask'] = async (more = {}, format = 'native') => {
    requests += 1;
    const text = `request ${requests}!`;
    const client = await createLeavingClient(gateway, text, more, format);
    return { client, call: await vendor.waitForCall(text) };
  };
  const { client, call } = await ask();
  call.begin();
  call.say(PRACTICE_TOKENS);
  call.reportUsage();
  call.finish();
  await client.over;
  await client.charged();
  return { gateway, vendor, ask };
}

describe('who ends an answer, and what it costs', () => {
  it('is what the documents say, beside what a vendor counts', async () => {
    const scene = await createScene('{action: drain, timeout: 60s}');
    const hasty = await createScene('{action: drain, timeout: 1ms}');
    const rows: string[] = [];
    for (const [name, play] of Object.entries(ROWS)) rows.push(encodeRow(name, await play(scene)));
    rows.splice(6, 0, encodeRow(SLOW_ROW, await leaveLongThoughts(hasty)));
    const page = readPage('limits-and-credits');
    const head =
      '| who ends it, and when | the vendor counts | charged | difference |\n|---|---|---|---|\n';
    const start = page.indexOf(head) + head.length;
    const table = page.slice(start, page.indexOf('\n\n', start)).split('\n');
    expect(rows).toEqual(table);
    // An answer to a Responses client is at its longest before all buffers are full.
    const { counted, charged } = await readTooSlowly(scene, 'chat');
    expect(charged).toEqual(counted);
  });

  it('is charged for what came when nothing is to be drained', async () => {
    const scene = await createScene('{action: stop}');
    for (const play of [leaveLongThoughts, leaveBeforeFirstEvent]) {
      const { counted, charged } = await play(scene);
      expect(charged.input).toBeGreaterThanOrEqual(counted.input);
      expect(charged.output).toBeLessThanOrEqual(counted.output);
    }
  });
});
