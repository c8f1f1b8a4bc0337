import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runHere } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { scrape } from '../../support/clients/scrape.ts';
import type { CleanUp } from '../../support/create-temp-dir.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { eventsOf } from '../../support/upstreams/flood-events.ts';
import {
  startWaitingUpstream,
  type WaitingCall,
} from '../../support/upstreams/start-waiting-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

const INPUT_TOKENS = 1_000;
const PIECE_BYTES = 30;
/** The ratio of the default estimate, for tokens that nobody has counted. */
const BYTES_PER_TOKEN = 3;
/** The estimate for the request: 4 tokens for its message, 2 for its text. */
const ESTIMATED_INPUT_TOKENS = 6;
const KEPT_CONNECTIONS = 2;

const events = eventsOf('native', INPUT_TOKENS);

const waitForDrain = (gateway: Gateway) =>
  waitUntil(
    async () => (await scrape(gateway)).sum('tollgate_answers_draining') === 1,
    'the answer is read on',
  );

function answerWhole(
  { res }: WaitingCall,
  usage = { input_tokens: INPUT_TOKENS, output_tokens: 1 },
): void {
  const content = [{ type: 'text', text: 'Hi' }];
  const ending = { stop_reason: 'end_turn', stop_sequence: null };
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: HAIKU };
  // Without a time of its own, the gateway keeps a connection for 4 s.
  res.writeHead(200, { 'content-type': 'application/json', 'keep-alive': 'timeout=600' });
  res.end(JSON.stringify({ ...head, content, ...ending, usage }));
}

function say({ res }: WaitingCall, pieces: number): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(events.begin());
  for (let number = 0; number < pieces; number++) res.write(events.say(number, PIECE_BYTES));
}

const cleanUp = useCleanUp();

/** A gateway in front of an upstream that lets some requests wait. */
async function startScene(settings = '', cleanUp: CleanUp = onTestFinished) {
  const waiting: WaitingCall[] = [];
  const upstream = await startWaitingUpstream({
    cleanUp,
    onCall(call) {
      if (call.body.includes('wait')) waiting.push(call);
      else answerWhole(call);
    },
  });
  const gateway = await startGateway({
    cleanUp,
    config: `workers: 1\n${settings}upstreams: [{name: main, kind: native, url: "${upstream.url}"}]\n`,
  });
  return { waiting, upstream, gateway };
}
type Scene = Awaited<ReturnType<typeof startScene>>;

let shared: Scene;
beforeAll(async () => {
  shared = await startScene('', cleanUp);
});

/**
 * Sees to two kept connections from the gateway to its upstream, and to an account that has not
 * paid for anything.
 */
async function start({ waiting, upstream, gateway }: Scene = shared) {
  waiting.length = 0;
  const warm = () => askModel(gateway.url, gateway.key(), messageOf('Hi'));
  await waitUntil(async () => {
    await Promise.all(Array.from({ length: KEPT_CONNECTIONS }, warm));
    return upstream.openConnections() >= KEPT_CONNECTIONS;
  }, 'connections are kept');
  const keptConnections = upstream.openConnections();
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: 10 });
  const { id, key } = await operator.createKey(account);

  const waitForCall = async (): Promise<WaitingCall> => {
    await waitUntil(() => waiting.length === 1, 'the upstream is asked');
    const [call] = waiting;
    if (call === undefined) throw new Error('the upstream was not asked');
    return call;
  };
  const leave = new AbortController();
  return {
    ...{ gateway, operator, account, id, key, waitForCall },
    leave: () => leave.abort(),
    /** Sends a request whose client may leave; the upstream shows the outcome. */
    ask(isStream: boolean) {
      const request = fetch(`${gateway.url}/v1/messages`, {
        method: 'POST',
        headers: {
          ...{ 'x-api-key': key, 'llm-version': '2023-06-01' },
          'content-type': 'application/json',
        },
        body: JSON.stringify(messageOf('wait', { stream: isStream })),
        signal: leave.signal,
      });
      request.catch(() => {});
    },
    /**
     * Expects that nothing of the request is left anywhere, and that it was settled once, at this
     * price.
     */
    async expectOver(call: WaitingCall, credits: number) {
      await waitUntil(call.isBrokenOff, 'the upstream loses its connection');
      await operator.waitUntilSettled(account);
      // Its own connection is gone, and the connections that are left carry the next requests.
      await waitUntil(
        () => upstream.openConnections() === keptConnections - 1,
        'the kept connections are left',
      );
      for (let i = 0; i < keptConnections; i++) expect((await warm()).status).toBe(200);
      expect(upstream.openConnections()).toBe(keptConnections - 1);
      expect(waiting).toHaveLength(1);
      await operator.waitForBooks();
      const env = { TOLLGATE_DATA_DIR: gateway.dataDir };
      const { out } = await runHere(env, 'ledger', 'export', '--account', account);
      const kinds = [...out.matchAll(/"kind":"(\w+)"/g)].map(([, kind]) => kind).sort();
      expect(kinds).toEqual([credits > 0 ? 'charge' : 'release', 'topup'].sort());
      expect((await operator.account(account)).balance).toBeCloseTo(10 - credits, 9);
    },
  };
}

describe('a client that leaves', () => {
  it('before the first event of a stream ends its upstream, and pays its input', async () => {
    const { ask, leave, waitForCall, expectOver } = await start();
    ask(true);
    const call = await waitForCall();
    leave();
    await expectOver(call, ESTIMATED_INPUT_TOKENS / 1e6);
  });

  it('after the head of a stream, which nobody has passed on, does so too', async () => {
    const { ask, leave, waitForCall, expectOver } = await start();
    ask(true);
    const call = await waitForCall();
    call.res.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    leave();
    await expectOver(call, ESTIMATED_INPUT_TOKENS / 1e6);
  });

  it('in the middle of a stream ends its upstream, and pays the input and what it was sent', async () => {
    const { gateway, key, waitForCall, expectOver } = await start();
    const opening = openStream(gateway.url, key, messageOf('wait'));
    const call = await waitForCall();
    const pieces = 3;
    say(call, pieces);
    const stream = await opening;
    await waitUntil(() => stream.text().split('text_delta').length > pieces, 'it is sent all');
    stream.leave();
    const outputTokens = (pieces * PIECE_BYTES) / BYTES_PER_TOKEN;
    await expectOver(call, (INPUT_TOKENS + 5 * outputTokens) / 1e6);
  });
});

describe('a key that is revoked', () => {
  it('ends the upstream of a stream that has begun, which is paid as far as it came', async () => {
    const { gateway, operator, id, key, waitForCall, expectOver } = await start();
    const opening = openStream(gateway.url, key, messageOf('wait'));
    const call = await waitForCall();
    say(call, 1);
    const stream = await opening;
    await waitUntil(() => stream.text().includes('text_delta'), 'it is sent something');
    await operator.revoke(id);
    await stream.ended;
    expect(stream.text()).toContain('has been revoked');
    const outputTokens = PIECE_BYTES / BYTES_PER_TOKEN;
    await expectOver(call, (INPUT_TOKENS + 5 * outputTokens) / 1e6);
  });

  it('ends an upstream that has said nothing yet, and is told so', async () => {
    const { gateway, operator, id, key, waitForCall, expectOver } = await start();
    const asking = askModel(gateway.url, key, messageOf('wait'));
    const call = await waitForCall();
    await operator.revoke(id);
    expect((await asking).status).toBe(401);
    await expectOver(call, ESTIMATED_INPUT_TOKENS / 1e6);
  });

  it('ends an answer that is read on for a client that has left', async () => {
    const { gateway, operator, id, ask, leave, waitForCall, expectOver } = await start();
    ask(false);
    const call = await waitForCall();
    leave();
    await waitForDrain(gateway);
    await operator.revoke(id);
    await expectOver(call, ESTIMATED_INPUT_TOKENS / 1e6);
    expect((await scrape(gateway)).sum('tollgate_answers_draining')).toBe(0);
  });
});

describe('a node that ends', () => {
  it('waits for answers that are read on, in vain no longer than it may, and settles them', async () => {
    const { gateway, account, ask, leave, waitForCall } = await start(
      await startScene('drain: {timeout: 1s}\n'),
    );
    ask(false);
    const call = await waitForCall();
    leave();
    await waitForDrain(gateway);
    gateway.signal('SIGTERM');
    expect(await gateway.waitForExit()).toBe(0);
    await waitUntil(call.isBrokenOff, 'the upstream loses its connection');
    const { dataDir } = gateway;
    const next = admin(await startGateway({ config: 'workers: 1\n', dataDir }));
    await next.waitUntilSettled(account);
    expect((await next.account(account)).balance).toBeCloseTo(10 - ESTIMATED_INPUT_TOKENS / 1e6, 9);
  });

  it('waits for what is read on, and charges what that reports', async () => {
    const { gateway, account, ask, leave, waitForCall } = await start();
    ask(false);
    const call = await waitForCall();
    leave();
    await waitForDrain(gateway);
    gateway.signal('SIGTERM');
    await gateway.waitForLog(/draining/);
    answerWhole(call, { input_tokens: 5, output_tokens: 20 });
    expect(await gateway.waitForExit()).toBe(0);
    const { dataDir } = gateway;
    const next = admin(await startGateway({ config: 'workers: 1\n', dataDir }));
    await next.waitUntilSettled(account);
    expect((await next.account(account)).balance).toBeCloseTo(10 - 105 / 1e6, 9);
  });
});
