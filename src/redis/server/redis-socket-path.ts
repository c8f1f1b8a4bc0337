import { join, resolve } from 'node:path';

/** Where the node's own Redis listens. */
export function redisSocketPath(dataDir: string): string {
  return join(resolve(dataDir), 'redis.sock');
}
