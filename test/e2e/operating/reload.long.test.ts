import { describe, expect, it } from 'vitest';
import { isAlive } from '../../support/is-alive.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { startLoad } from '../../support/servers/start-load.ts';
import { waitUntil } from '../../support/wait-until.ts';

async function reload(gateway: Gateway, times: number): Promise<void> {
  gateway.signal('SIGHUP');
  await waitUntil(
    () => gateway.logLines().filter((line) => line.msg === 'reloaded').length === times,
    `it is reloaded for the ${times}. time`,
  );
}

describe('a node that is told to reload', () => {
  it('replaces every worker under load without one failed request or cut stream', async () => {
    const gateway = await startGateway({ config: 'workers: 2\n' });
    const oldPids = gateway.workerPids();
    const load = startLoad(gateway.url, '/probe/slow?5', 32);
    const streams = await Promise.all(
      Array.from({ length: 10 }, () => fetch(`${gateway.url}/probe/stream?60`)),
    );
    await waitUntil(() => load.answered() > 300, 'the load is on its way');

    gateway.signal('SIGHUP');
    await gateway.waitForLog(/"msg":"reloaded"/);
    const answeredThen = load.answered();
    await waitUntil(() => load.answered() > answeredThen + 300, 'the load goes on');
    await load.stop();
    const texts = await Promise.all(streams.map((stream) => stream.text()));

    expect(load.failures).toEqual([]);
    for (const text of texts) expect(text).toMatch(/^data: 1 [\s\S]*data: 60 \d+\n\n$/);
    expect(load.lastPids().filter((pid) => oldPids.includes(pid ?? 0))).toEqual([]);
    await waitUntil(() => oldPids.every((pid) => !isAlive(pid)), 'the old workers have ended');
  });

  it('cuts no stream however short drain.timeout is, until the second reload after it', async () => {
    const gateway = await startGateway({ config: 'workers: 1\ndrain: {timeout: 0s}\n' });
    const short = await fetch(`${gateway.url}/probe/stream?60`);
    const endless = await fetch(`${gateway.url}/probe/stream?100000`);
    const [pid = 0] = gateway.workerPids();
    await reload(gateway, 1);
    expect(await short.text()).toMatch(/^data: 1 [\s\S]*data: 60 \d+\n\n$/);
    await reload(gateway, 2);
    expect(isAlive(pid)).toBe(true);
    await reload(gateway, 3);
    await expect(endless.text()).rejects.toThrow();
    await waitUntil(() => !isAlive(pid), 'the oldest worker has ended');
  });

  it('ends within drain.timeout when it is told to while an old worker has a stream', async () => {
    const gateway = await startGateway({ config: 'workers: 1\ndrain: {timeout: 500ms}\n' });
    const stream = await fetch(`${gateway.url}/probe/stream?100000`);
    await reload(gateway, 1);
    gateway.signal('SIGTERM');
    await expect(stream.text()).rejects.toThrow();
    expect(await gateway.waitForExit()).toBe(0);
    // It was not killed, so it has settled what it cut.
    expect(gateway.stderr()).toMatch(/open exchanges were cut/);
  });

  it('takes the new settings, and another number of workers', async () => {
    const gateway = await startGateway({ config: 'workers: 1\nlimits: {body_bytes: 1KiB}\n' });
    const post = async (bytes: number) => {
      const body = new Uint8Array(bytes);
      const response = await fetch(`${gateway.url}/nowhere`, { method: 'POST', body });
      return response.status;
    };
    gateway.setConfig('workers: 3\n');
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/"msg":"reloaded"/);
    const pids = new Set<number>();
    await waitUntil(async () => {
      const response = await fetch(`${gateway.url}/probe/pid`, {
        headers: { connection: 'close' },
      });
      pids.add(((await response.json()) as { pid: number }).pid);
      return pids.size === 3;
    }, 'three workers answer');
    expect(await post(10)).toBe(404);

    gateway.setConfig('workers: 1\n');
    await reload(gateway, 2);
    await waitUntil(() => [...pids].every((pid) => !isAlive(pid)), 'the others have ended');
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  it('refuses wrong settings as a whole, says where, and goes on as it was', async () => {
    const gateway = await startGateway({ config: 'workers: 1\n' });
    const [pid] = gateway.workerPids();
    gateway.setConfig('workers: many\nunknown: 1\n');
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/reload refused/);
    const line = gateway.logLines().find(({ msg }) => msg.startsWith('reload refused'));
    expect(line?.['problems']).toMatchObject([
      expect.stringContaining('tollgate.yaml:1: workers'),
      expect.stringContaining('tollgate.yaml:2: unknown'),
    ]);
    expect(await (await fetch(`${gateway.url}/probe/pid`)).json()).toEqual({ pid });
  });

  it('refuses what needs a restart', async () => {
    const gateway = await startGateway({ config: 'workers: 1\n' });
    gateway.setConfig('workers: 1\nredis: {url: "redis://127.0.0.1:1/0"}\n');
    gateway.signal('SIGHUP');
    await gateway.waitForLog(/redis\.url: needs a restart/);
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
  });
});
