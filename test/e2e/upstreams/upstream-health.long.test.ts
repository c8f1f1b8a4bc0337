import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { readUpstream, waitForState } from '../../support/clients/read-cluster.ts';
import { type Backend, startBackend } from '../../support/servers/start-backend.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import {
  startWaitingUpstream,
  type WaitingCall,
} from '../../support/upstreams/start-waiting-upstream.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

/** So many failures in a row open a breaker, whatever time they take. */
const FAILURES_IN_ROW_MAX = 5;
const PROBE = 'probe: {interval: 100ms, timeout: 5s}';

function configFor(backend: Backend, settings: string, workers = 1): string {
  return `workers: ${workers}\nupstreams: [{name: main, kind: native, url: "${backend.url}", ${settings}}]\n`;
}

function configWithSpare(main: { readonly url: string }, spare: Backend, settings = ''): string {
  return `workers: 1
models:
  - {id: llm-haiku-4.5, max_output_tokens: 8192, price: {input: 1, output: 5}, routes: [{upstream: main}, {upstream: spare, priority: 2}]}
upstreams: [{name: main, kind: native, url: "${main.url}"${settings}}, {name: spare, kind: native, url: "${spare.url}"}]
`;
}

async function ask(gateway: Gateway) {
  const answer = await askModel(gateway.url, gateway.key(), messageOf('Hi'));
  const { content } = answer.body as { content?: readonly { text: string }[] };
  return { ...answer, who: content?.[0]?.text };
}

describe('an upstream that nobody probes', () => {
  it('is left when it is dead, and taken back by the requests of clients when it lives again', async () => {
    const [main, spare] = [await startBackend('main'), await startBackend('spare')];
    const gateway = await startGateway({ config: configWithSpare(main, spare) });
    expect((await ask(gateway)).who).toBe('main');
    await main.stop();
    const asks = 100;
    for (let n = 0; n < asks; n += 1) expect((await ask(gateway)).who).toBe('spare');
    expect(spare.calls.messages).toBe(asks);
    await waitUntil(
      async () => (await readUpstream(gateway, 'spare')).tries['ok'] === asks,
      'all tries are told',
    );
    const { tries } = await readUpstream(gateway, 'main');
    expect(tries['ok']).toBe(1);
    expect(tries['unreachable']).toBeGreaterThanOrEqual(2);
    expect(tries['unreachable']).toBeLessThan(asks / 2);
    await main.start();
    await waitUntil(async () => (await ask(gateway)).who === 'main', 'the best one is back');
    await waitForState(gateway, 'main', 'closed');
  });

  /** Starts an upstream without an end to its whole answers, and another one. */
  async function startUnending(onCall?: (call: WaitingCall) => void) {
    const main = await startWaitingUpstream(onCall && { onCall });
    const spare = await startBackend('spare');
    const config = configWithSpare(main, spare, ', timeouts: {total: 1s}');
    return { main, spare, gateway: await startGateway({ config }) };
  }

  it('is left when it takes whole requests and begins none of their answers', async () => {
    const { main, spare, gateway } = await startUnending();
    let failures = 0;
    await waitUntil(async () => {
      const { status, who } = await ask(gateway);
      if (status === 504) failures += 1;
      return who === 'spare';
    }, 'it is left');
    expect(failures).toBeGreaterThanOrEqual(2);
    expect(failures).toBeLessThanOrEqual(FAILURES_IN_ROW_MAX);
    expect([main.calls.length, spare.calls.messages]).toEqual([failures, 1]);
    await waitUntil(
      async () => (await readUpstream(gateway, 'main')).tries['slow'] === failures,
      'all tries are told',
    );
  });

  it('is not left for whole answers that begin and take too long', async () => {
    const { spare, gateway } = await startUnending(({ res }) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      res.write('{');
    });
    for (let n = 0; n < FAILURES_IN_ROW_MAX; n += 1) {
      expect((await ask(gateway)).status).toBe(504);
    }
    expect(spare.calls.messages).toBe(0);
    await waitForState(gateway, 'main', 'closed');
  });
});

describe('an upstream that is probed', () => {
  it('is left and taken back by all workers without any client', async () => {
    const main = await startBackend('main');
    const gateway = await startGateway({ config: configFor(main, PROBE, 2) });
    await waitForState(gateway, 'main', 'closed');
    await main.stop();
    await waitForState(gateway, 'main', 'down');
    expect(await readUpstream(gateway, 'main')).toMatchObject({
      state: 'down',
      probe: { state: 'down', last_result: 'ECONNREFUSED' },
    });
    const refused = await ask(gateway);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    await main.start();
    await waitForState(gateway, 'main', 'closed');
    expect((await ask(gateway)).who).toBe('main');
    expect(main.calls.messages).toBe(1);
    expect((await readUpstream(gateway, 'main')).tries['unreachable']).toBe(0);
  });
});

describe('an upstream that is probed by a node with one worker', () => {
  const cleanUp = useCleanUp();
  let main: Backend;
  let gateway: Gateway;
  beforeAll(async () => {
    main = await startBackend('main', { cleanUp });
    gateway = await startGateway({ config: configFor(main, PROBE), cleanUp });
  });

  it('is not left for one failure', async () => {
    const told = () => gateway.logLines().map(({ msg }) => msg);
    main.nextProbeStatuses.push(500, 200, 500, 200, 500, 200);
    await waitUntil(() => main.nextProbeStatuses.length === 0, 'every second one has failed');
    expect(told()).not.toContain('an upstream does not answer');
    main.nextProbeStatuses.push(500, 500);
    await waitUntil(() => told().includes('an upstream does not answer'), 'two in a row are told');
  });

  it('is down when it fails, and up with any answer that is no failure of its own', async () => {
    main.statuses.probes = 503;
    const asked = main.calls.messages;
    await waitForState(gateway, 'main', 'down');
    for (const status of [404, 401, 429, 200]) {
      main.statuses.probes = status;
      await waitForState(gateway, 'main', 'closed');
      main.statuses.probes = 500;
      await waitForState(gateway, 'main', 'down');
    }
    expect((await ask(gateway)).status).toBe(503);
    expect(main.calls.messages).toBe(asked);
    main.statuses.probes = 200;
    await waitForState(gateway, 'main', 'closed');
  });

  it('still counts what clients meet there', async () => {
    main.statuses.messages = 500;
    await waitUntil(async () => (await ask(gateway)).status === 503, 'it is left alone');
    await waitUntil(
      async () => /open/.test((await readUpstream(gateway, 'main')).state),
      'its state is told',
    );
    expect((await readUpstream(gateway, 'main')).probe?.state).toBe('up');
    main.statuses.messages = 200;
    await waitUntil(async () => (await ask(gateway)).who === 'main', 'it is asked again');
  });

  it('is known to be down to workers that start later, after a crash and for a reload', async () => {
    main.statuses.probes = 500;
    const asked = main.calls.messages;
    await waitForState(gateway, 'main', 'down');
    const [pid] = gateway.workerPids();
    await fetch(`${gateway.url}/probe/crash`).catch(() => {});
    await waitUntil(
      () => gateway.workerPids().some((other) => other !== pid),
      'the next worker listens',
    );
    expect((await ask(gateway)).status).toBe(503);
    // With this interval the gateway does not find out the state again by a probe.
    gateway.setConfig(configFor(main, 'probe: {interval: 1h}'));
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/"msg":"reloaded"/);
    expect((await ask(gateway)).status).toBe(503);
    expect(main.calls.messages).toBe(asked);
  });
});
