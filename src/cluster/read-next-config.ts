import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/read-config-source.ts';
import { formatEndpoint } from '../lib/parse-endpoint.ts';
import { formatRedisUrl } from '../lib/parse-redis-url.ts';

/** Refuses what cannot change while the node runs, before anything is touched. */
export function readNextConfig(readSource: () => ConfigSource, current: Config) {
  const source = readSource();
  const config = parseConfig(source);
  const problems: string[] = [];
  if (formatEndpoint(config.ops.listen) !== formatEndpoint(current.ops.listen)) {
    problems.push('ops.listen: needs a restart to change');
  }
  if (config.dataDir !== current.dataDir) problems.push('data_dir: needs a restart to change');
  if (config.ops.adminToken?.reveal() !== current.ops.adminToken?.reveal()) {
    problems.push('ops.admin_token: needs a restart to change');
  }
  if (nameStore(config) !== nameStore(current)) {
    problems.push('redis.url: needs a restart to change');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { source, config };
}

function nameStore({ redis }: Config): string {
  return redis === 'embedded' ? redis : formatRedisUrl(redis);
}

export function isMoved(current: Config, next: Config): boolean {
  return formatEndpoint(current.listen) !== formatEndpoint(next.listen);
}
