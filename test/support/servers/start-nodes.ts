import type { CleanUp } from '../create-temp-dir.ts';
import { FAST_UPSTREAM } from '../use-gateway.ts';
import { type Gateway, startGateway } from './start-gateway.ts';
import { startRedisServer, type TestRedisServer } from './start-redis-server.ts';

export interface Nodes {
  readonly nodes: readonly [Gateway, Gateway];
  readonly redis: TestRedisServer;
}

interface NodesOptions {
  readonly settings?: string;
  readonly cleanUp?: CleanUp;
}

/**
 * Starts two nodes with two workers each, on one Redis. Every test file ends with
 * `stopRedisServers`.
 */
export async function startNodes({ settings = '', cleanUp }: NodesOptions = {}): Promise<Nodes> {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const redis = await startRedisServer({ args });
  const start = () =>
    startGateway({
      config: `workers: 2\n${FAST_UPSTREAM}${settings}`,
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      ...(cleanUp && { cleanUp }),
    });
  return { redis, nodes: [await start(), await start()] };
}
