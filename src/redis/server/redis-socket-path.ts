import { join, resolve } from 'node:path';
import { DATA_FILES } from '../../lib/data-files.ts';

/** Where the node's own Redis listens. */
export function redisSocketPath(dataDir: string): string {
  return join(resolve(dataDir), DATA_FILES.redisSocket);
}
