import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { admin } from '../../support/clients/admin.ts';
import { askModel, messageOf } from '../../support/clients/ask-model.ts';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { startGateway } from '../../support/servers/start-gateway.ts';
import { startRedisServer, stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { FAST_CONFIG, FAST_UPSTREAM } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

afterAll(stopRedisServers);

async function healthOf(url: string, path: string): Promise<{ code: number; status: string }> {
  const response = await fetch(`${url}${path}`);
  return { code: response.status, status: ((await response.json()) as { status: string }).status };
}

describe('a node whose store is out', () => {
  it('takes itself out of the balancer after a while, stays alive, and comes back', async () => {
    const redis = await startRedisServer();
    const gateway = await startGateway({
      config: `workers: 1\nredis: {url: "redis://127.0.0.1:${redis.port}/0"}\n`,
    });
    expect(await healthOf(gateway.url, '/health')).toEqual({ code: 200, status: 'ok' });

    process.kill(redis.pid, 'SIGSTOP');
    try {
      await waitUntil(
        async () => (await healthOf(gateway.url, '/health')).code === 503,
        'the node is not ready',
      );
      expect(await healthOf(gateway.url, '/health')).toEqual({ code: 503, status: 'unavailable' });
      expect(await healthOf(gateway.url, '/healthz')).toEqual({ code: 200, status: 'ok' });
    } finally {
      process.kill(redis.pid, 'SIGCONT');
    }
    await waitUntil(
      async () => (await healthOf(gateway.url, '/health')).code === 200,
      'the node is ready again',
    );
    await redis.stop();
  });

  it('stays in it while requests are insured, and says so, to operators too', async () => {
    const redis = await startRedisServer();
    const gateway = await startGateway({
      config: `${FAST_CONFIG}redis: {url: "redis://127.0.0.1:${redis.port}/0"}\nguards: {insurance_per_minute: 1000}\n`,
    });
    const operator = admin(gateway);
    const { key } = await operator.createKey(await operator.createAccount());
    expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(200);
    process.kill(redis.pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(redis.pid, 'SIGCONT'));
    const codes: number[] = [];
    await waitUntil(async () => {
      const { code, status } = await healthOf(gateway.url, '/health');
      codes.push(code);
      return status === 'insured';
    }, 'it says that requests are insured');
    expect(new Set(codes)).toEqual(new Set([200]));
    await waitUntil(
      async () => (await healthOf(gateway.opsUrl, '/readyz')).status === 'insured',
      'it says so to operators',
    );
    expect((await healthOf(gateway.opsUrl, '/readyz')).code).toBe(200);
    expect((await askModel(gateway.url, key, messageOf('Hi'))).status).toBe(200);
    process.kill(redis.pid, 'SIGCONT');
    await waitUntil(
      async () => (await healthOf(gateway.url, '/health')).status === 'ok',
      'all requests are served again',
    );
  });

  it('that is empty insures nobody, and is taken out', async () => {
    const redis = await startRedisServer();
    const gateway = await startGateway({
      config: `workers: 1\nredis: {url: "redis://127.0.0.1:${redis.port}/0"}\nguards: {insurance_per_minute: 10}\n`,
    });
    process.kill(redis.pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(redis.pid, 'SIGCONT'));
    for (const url of [`${gateway.url}/health`, `${gateway.opsUrl}/readyz`]) {
      await waitUntil(async () => (await fetch(url)).status === 503, 'the node is not ready');
      expect(await (await fetch(url)).json()).toMatchObject({ status: 'unavailable' });
    }
  });

  it('is not taken out by an outage that ends in time', async () => {
    const redis = await startRedisServer();
    const gateway = await startGateway({
      config: `workers: 1\nredis: {url: "redis://127.0.0.1:${redis.port}/0"}\n`,
    });
    process.kill(redis.pid, 'SIGSTOP');
    await gateway.waitForLog(/Redis does not accept writes|connection to Redis lost/);
    expect((await healthOf(gateway.url, '/health')).code).toBe(200);
    process.kill(redis.pid, 'SIGCONT');
    await redis.stop();
  });

  it('is told by its first answer, if the store never was there', async () => {
    const port = await findFreePort();
    const gateway = await startGateway({
      config: `workers: 1\nredis: {url: "redis://127.0.0.1:${port}/0"}\n`,
    });
    expect(await healthOf(gateway.url, '/health')).toEqual({ code: 503, status: 'unavailable' });
    expect(await healthOf(gateway.opsUrl, '/readyz')).toEqual({ code: 503, status: 'unavailable' });
  });
});

it('a node is not ready for operators while one of its workers hangs', async () => {
  const gateway = await startGateway({ config: `workers: 2\n${FAST_UPSTREAM}` });
  const waitForCode = (code: number) =>
    waitUntil(
      async () => (await healthOf(gateway.opsUrl, '/readyz')).code === code,
      () => `/readyz has ${code}`,
    );
  await waitForCode(200);
  const [pid = 0] = gateway.workerPids();
  process.kill(pid, 'SIGSTOP');
  await waitForCode(503).finally(() => process.kill(pid, 'SIGCONT'));
  await waitForCode(200);
});
