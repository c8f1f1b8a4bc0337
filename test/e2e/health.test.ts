import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/start-gateway.ts';
import { startRedisServer } from '../support/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

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

  it('is not taken out by an outage that ends in time', async () => {
    const redis = await startRedisServer();
    const gateway = await startGateway({
      config: `workers: 1\nredis: {url: "redis://127.0.0.1:${redis.port}/0"}\n`,
    });
    process.kill(redis.pid, 'SIGSTOP');
    await gateway.waitForLog(/redis/i);
    expect((await healthOf(gateway.url, '/health')).code).toBe(200);
    process.kill(redis.pid, 'SIGCONT');
    await redis.stop();
  });
});
