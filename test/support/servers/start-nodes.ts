import type { CleanUp } from '../create-temp-dir.ts';
import { FAST_UPSTREAM } from '../use-gateway.ts';
import { type Gateway, type GatewayOptions, startGateway } from './start-gateway.ts';
import { startRedisServer, type TestRedisServer } from './start-redis-server.ts';

export interface Nodes {
  readonly nodes: readonly [Gateway, Gateway];
  readonly redis: TestRedisServer;
  /** Starts one more node on the same Redis. */
  startNode(options?: GatewayOptions): Promise<Gateway>;
}

interface NodesOptions {
  readonly settings?: string;
  readonly workers?: number;
  readonly cleanUp?: CleanUp;
}

/**
 * Starts two nodes on one Redis, with two workers each unless told otherwise. Every test file ends with
 * `stopRedisServers`.
 */
export async function startNodes({
  settings = '',
  workers = 2,
  cleanUp,
}: NodesOptions = {}): Promise<Nodes> {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const redis = await startRedisServer({ args });
  const startNode = (options: GatewayOptions = {}) =>
    startGateway({
      config: `workers: ${workers}\n${FAST_UPSTREAM}${settings}`,
      env: { TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
      ...(cleanUp && { cleanUp }),
      ...options,
    });
  return { redis, nodes: [await startNode(), await startNode()], startNode };
}
