import { Client } from 'undici';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../support/is-alive.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startLoad } from '../../support/servers/start-load.ts';
import { waitUntil } from '../../support/wait-until.ts';

const openStreams = (url: string, count: number, events: number) =>
  Promise.all(Array.from({ length: count }, () => fetch(`${url}/probe/stream?${events}`)));

const waitUntilPortIsClosed = (url: string) =>
  waitUntil(
    () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    'no new connection is taken',
  );

describe('a node that is told to end', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`by ${signal} cuts none of 50 slow streams, and ends with 0`, async () => {
      const gateway = await startGateway({ config: 'workers: 2\n' });
      const pids = gateway.workerPids();
      const streams = await openStreams(gateway.url, 50, 30);
      gateway.signal(signal);
      await gateway.waitForLog(/draining/);
      await waitUntilPortIsClosed(gateway.url);
      const texts = await Promise.all(streams.map((stream) => stream.text()));
      for (const text of texts) expect(text).toMatch(/^data: 1 [\s\S]*data: 30 \d+\n\n$/);
      expect(await gateway.waitForExit()).toBe(0);
      expect(pids.filter(isAlive)).toEqual([]);
    });
  }

  it('answers requests on open connections, tells the balancer, and asks to go elsewhere', async () => {
    const gateway = await startGateway({ config: 'workers: 1\n' });
    const client = new Client(gateway.url, { keepAliveTimeout: 60_000 });
    // As long as it goes on, the node does.
    const [stream] = await openStreams(gateway.url, 1, 1_000);
    const before = await client.request({ method: 'GET', path: '/health' });
    expect(await before.body.json()).toMatchObject({ status: 'ok' });
    expect(before.headers['connection']).not.toBe('close');

    gateway.signal('SIGTERM');
    await gateway.waitForLog(/draining/);
    await waitUntilPortIsClosed(gateway.url);
    const during = await client.request({ method: 'GET', path: '/health' });
    expect(during.statusCode).toBe(503);
    expect(await during.body.json()).toMatchObject({ status: 'draining' });
    // The port closes first, then clients are sent away, and cannot come back.
    let isSentAway = during.headers['connection'] === 'close';
    await waitUntil(async () => {
      if (isSentAway) return true;
      const answer = await client.request({ method: 'GET', path: '/healthz' });
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
      isSentAway = answer.headers['connection'] === 'close';
      return isSentAway;
    }, 'the client is asked to leave');
    await stream?.body?.cancel();
    expect(await gateway.waitForExit()).toBe(0);
    await client.close();
  });

  it('fails no request of clients that keep asking until the port is closed', async () => {
    const gateway = await startGateway({ config: 'workers: 2\n' });
    const load = startLoad(gateway.url, '/probe/slow?5', 16);
    await waitUntil(() => load.answered() > 300, 'the load is on its way');
    gateway.signal('SIGTERM');
    expect(await gateway.waitForExit()).toBe(0);
    await load.stop();
    const refused = load.failures.filter(({ error }) => error.includes('ECONNREFUSED'));
    expect(load.failures.filter((failure) => !refused.includes(failure))).toEqual([]);
  });

  it('cuts what is still open at the end of drain.timeout', async () => {
    const gateway = await startGateway({ config: 'workers: 1\ndrain: {timeout: 500ms}\n' });
    const [stream] = await openStreams(gateway.url, 1, 1_000);
    gateway.signal('SIGTERM');
    await expect(stream?.text()).rejects.toThrow();
    expect(await gateway.waitForExit()).toBe(0);
    expect(gateway.stderr()).toMatch(/open exchanges were cut/);
  });

  it('drains if its signal comes twice at once, as Ctrl-C in a terminal may', async () => {
    const gateway = await startGateway({ config: 'workers: 1\n' });
    const [stream] = await openStreams(gateway.url, 1, 20);
    // Two equal signals may become one on their way.
    gateway.signal('SIGINT');
    gateway.signal('SIGTERM');
    expect(await stream?.text()).toMatch(/data: 20 \d+\n\n$/);
    expect(await gateway.waitForExit()).toBe(0);
  });

  it('ends at once at a signal that comes later', async () => {
    const gateway = await startGateway({ config: 'workers: 1\n' });
    const [stream] = await openStreams(gateway.url, 1, 1_000);
    gateway.signal('SIGTERM');
    await gateway.waitForLog(/draining/);
    let exitCode: unknown;
    void gateway.waitForExit().then((code) => {
      exitCode = code;
    });
    await waitUntil(() => {
      if (exitCode === undefined) gateway.signal('SIGTERM');
      return exitCode !== undefined;
    }, 'a signal ends it');
    expect(exitCode).toBe(1);
    await expect(stream?.text()).rejects.toThrow();
  });
});
