import { describe, expect, it } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf, openStream } from '../../support/clients/ask-model.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const linesOf = (gateway: Gateway) => gateway.logLines().filter(({ msg }) => msg === 'request');

/** Ends the gateway: a worker has written all its lines when it has ended. */
async function end(gateway: Gateway) {
  gateway.signal('SIGTERM');
  expect(await gateway.waitForExit()).toBe(0);
}

describe('the log of all requests', () => {
  const node = useGateway({ config: `${FAST_CONFIG}request_log: all\n` });

  it('has a line with all there is to know of each request', async () => {
    const gateway = node();
    const operator = admin(gateway);
    const account = await operator.createAccount({ credits: 5 });
    const { id, key } = await operator.createKey(account);
    const answered = await askModel(gateway.url, key, messageOf('Hello [[tokens 20]]'));
    const line = await gateway.waitForRequestLine(answered.headers.get('request-id'));
    const input = answered.body.usage?.input_tokens ?? 0;
    expect(line).toMatchObject({
      level: 30,
      from: 'worker 1',
      route: 'native',
      keyId: id,
      last4: key.slice(-4),
      model: HAIKU,
      isStream: false,
      upstream: 'simulated',
      tries: [{ upstream: 'simulated', result: 'ok' }],
      status: 200,
      outcome: 'complete',
      usage: { input, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 20, thinking: 0 },
      credits: (input + 20 * 5) / 1e6,
      isEstimated: false,
    });
    expect(Date.parse(String(line['time']))).toBeGreaterThan(0);
    const moments = ['bodyMs', 'admittedMs', 'firstEventMs', 'durationMs'].map((name) =>
      Number(line[name]),
    );
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
    expect(moments[0]).toBeGreaterThanOrEqual(0);
    expect(line['held']).toBeGreaterThanOrEqual(Number(line['credits']));
  });

  it('has the lines of refusals and of clients that left too', async () => {
    const gateway = node();
    const wrong = await askModel(gateway.url, 'sk-gw2-wrong', messageOf('Hi'));
    expect(await gateway.waitForRequestLine(wrong.headers.get('request-id'))).toMatchObject({
      level: 30,
      status: 401,
      refusal: 'unauthenticated',
      outcome: 'refused',
    });
    const endless = messageOf('[[tokens 8000]] [[slow 20]]', { max_tokens: 8_000 });
    const stream = await openStream(gateway.url, gateway.key(), endless);
    stream.leave();
    await waitUntil(
      () => linesOf(gateway).some((line) => line['outcome'] === 'left' && line['level'] === 30),
      'the one that left is logged',
    );
  });
});

describe('the log of requests', () => {
  it('has those with trouble only, by default, whatever the level of the log', async () => {
    const model = 'max_output_tokens: 100, price: {input: 1, output: 5}';
    const gateway = await startGateway({
      config: `
workers: 1
log_level: error
models:
  - {id: ${HAIKU}, ${model}, routes: [{upstream: fine}]}
  - {id: retried, ${model}, routes: [{upstream: down}, {upstream: fine, priority: 2}]}
upstreams:
  - {name: down, kind: native, url: "http://127.0.0.1:1"}
  - {name: fine, kind: simulated, simulated: {tokens_per_second: 0, latency: 1ms}}
`,
    });
    const ask = (text: string, more: object = {}) =>
      askModel(gateway.url, gateway.key(), messageOf(text, more));
    await ask('Fine');
    await ask('[[error 400]]');
    await askModel(gateway.url, 'sk-gw2-wrong', messageOf('Hi'));
    await ask('Hi', { model: 'nobody' });
    const overloaded = await ask('[[error 529]]');
    const broken = await openStream(gateway.url, gateway.key(), messageOf('[[error 500 after 3]]'));
    await broken.ended;
    // One that went well in the end.
    const retried = await ask('Hi', { model: 'retried' });
    await end(gateway);
    expect(linesOf(gateway)).toEqual([
      expect.objectContaining({
        level: 40,
        requestId: overloaded.headers.get('request-id'),
        status: 529,
        refusal: 'upstream_overloaded',
      }),
      expect.objectContaining({ level: 40, status: 200, outcome: 'failed' }),
      expect.objectContaining({
        level: 40,
        requestId: retried.headers.get('request-id'),
        status: 200,
        upstream: 'fine',
        tries: [
          { upstream: 'down', result: 'unreachable', reason: 'connect_failed: ECONNREFUSED' },
          { upstream: 'fine', result: 'ok' },
        ],
      }),
    ]);
  });

  it.each([
    [0, 0],
    [1, 20],
  ])('has the share %d of the others with `sampled`', async (sample, lines) => {
    const gateway = await startGateway({
      config: `${FAST_CONFIG}request_log: sampled\nrequest_log_sample: ${sample}\n`,
    });
    const ask = (text: string) => askModel(gateway.url, gateway.key(), messageOf(text));
    await Promise.all(Array.from({ length: 20 }, () => ask('Hi')));
    await ask('[[error 529]]');
    await end(gateway);
    expect(linesOf(gateway)).toHaveLength(lines + 1);
  });
});
