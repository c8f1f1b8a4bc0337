import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { configVersion } from '../config/config-version.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/source/read-config-source.ts';
import type { ArchivePlace } from '../lib/address/books-target.ts';
import { formatEndpoint } from '../lib/address/parse-endpoint.ts';
import { formatRedisUrl } from '../lib/address/parse-redis-url.ts';

/** The settings in use, their source, and how many times the node has taken settings. */
export interface ConfigInUse {
  readonly source: ConfigSource;
  readonly config: Config;
  readonly count: number;
}

/**
 * Settings that cannot change while the node runs. Each function returns a text that differs if the
 * setting differs.
 */
const FIXED: Readonly<Record<string, (config: Config) => string | undefined>> = {
  'ops.listen': ({ ops }) => formatEndpoint(ops.listen),
  data_dir: ({ dataDir }) => dataDir,
  catalogue: ({ catalogue }) => catalogue,
  'ops.admin_token': ({ ops }) => ops.adminToken?.reveal(),
  'ops.oidc': ({ ops }) => JSON.stringify([ops.oidc, ops.oidc?.clientSecret?.reveal()]),
  'redis.url': comparableStore,
  'books.url': ({ books }) => (books.place.kind === 'file' ? '' : books.place.url.reveal()),
  'books.connections': ({ books }) => String(books.connectionsMax),
  'books.keep': ({ books }) => String(books.keepMs),
  'books.archive': ({ books }) => comparableArchive(books.archive),
  'books.waiting_entries_max': ({ books }) => String(books.waitingEntriesMax),
};

/**
 * Throws if a setting differs that cannot change while the node runs. Nothing has been touched by
 * then.
 */
export function readNextConfig(readSource: () => ConfigSource, inUse: ConfigInUse): ConfigInUse {
  const source = readSource();
  const config = parseConfig(source);
  const needsRestart = Object.entries(FIXED)
    .filter(([, read]) => read(config) !== read(inUse.config))
    .map(([setting]) => setting);
  if (needsRestart.length > 0) {
    const problems = needsRestart.map((setting) => `${setting}: needs a restart to change`);
    throw new ConfigError(problems, { needsRestart });
  }
  return { source, config, count: inUse.count + 1 };
}

/** With its secrets, only to be compared. */
function comparableStore({ redis }: Config): string {
  if (redis === 'embedded') return redis;
  return JSON.stringify([formatRedisUrl(redis), redis.auth.password?.reveal()]);
}

/** With its secrets, only to be compared. */
function comparableArchive(archive: ArchivePlace | undefined): string {
  if (archive?.kind !== 's3') return archive?.folder ?? '';
  const { accessKey, secretKey, ...place } = archive;
  return JSON.stringify([place, accessKey.reveal(), secretKey.reveal()]);
}

export function isMoved(inUse: Config, next: Config): boolean {
  return formatEndpoint(inUse.listen) !== formatEndpoint(next.listen);
}

export function versionOf({ config, count }: ConfigInUse): string {
  return configVersion(config, count);
}
