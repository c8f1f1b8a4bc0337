import { createRecordStore, type RecordStore } from '../accounts/record-store.ts';
import type { CatalogueConfig, NamedUpstream } from '../config/config.ts';
import { describeCatalogue } from '../config/describe-catalogue.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { loadCopy } from './catalogue-copy.ts';
import { applyVersion, readHead, readVersions } from './catalogue-records.ts';
import type { CopySaver } from './copy-saver.ts';
import type { KnownVersions } from './known-versions.ts';

/**
 * How many times a node without a copy asks Redis before its start fails; each attempt takes 2 s.
 */
const START_ATTEMPTS_MAX = 5;
const ID_CHARS = 16;

export interface OpenOptions {
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly dataDir: string;
  /** The upstreams of the settings in use. */
  readonly upstreams: () => readonly NamedUpstream[];
  /** What the settings sell: the first version, if Redis has none. */
  readonly seed: CatalogueConfig;
  readonly randomBytes: RandomBytes;
  readonly clock: Clock;
  readonly log: Log;
}

/** Takes what Redis has; else what the node knew last; else what the settings say. */
export async function openCatalogue(
  options: OpenOptions,
  known: KnownVersions,
  copies: Pick<CopySaver, 'save'>,
): Promise<{ readonly id: string }> {
  const { connection, dataDir, log } = options;
  const store = createRecordStore(connection);
  const copy = loadCopy(dataDir);
  if (copy !== undefined) known.replace(copy.versions);
  for (let attempt = 1; ; attempt++) {
    try {
      let head = await store.read(() => readHead(connection));
      if (head === undefined && copy === undefined) {
        await seed(options, store);
        head = await store.read(() => readHead(connection));
      }
      if (head === undefined || (head.id === copy?.id && head.version < lastOf(known))) break;
      const versions = await store.read(() => readVersions(connection));
      if (head.id === copy?.id) known.add(versions);
      else known.replace(versions);
      copies.save({ id: head.id, versions: known.all() });
      return head;
    } catch (error) {
      if (copy !== undefined) {
        log.warn({ err: error, version: lastOf(known) }, 'Redis is away: the last known catalogue');
        break;
      }
      if (attempt === START_ATTEMPTS_MAX) {
        const message = 'the catalogue is in Redis, which is away, and this node has no copy of it';
        throw new Error(message, { cause: error });
      }
    }
  }
  return { id: copy?.id ?? '' };
}

function lastOf(known: KnownVersions): number {
  return known.last()?.version ?? 0;
}

/** Two nodes may try at once: the second one finds what the first one wrote. */
async function seed(
  { connection, seed: sold, upstreams, randomBytes, clock, log }: OpenOptions,
  store: Pick<RecordStore, 'ask'>,
): Promise<void> {
  const order = {
    ...{ catalogueId: randomBase62(ID_CHARS, randomBytes), baseVersion: 0, isRollback: false },
    ...{ fromMs: 0, writeId: randomBase62(ID_CHARS, randomBytes) },
    origin: { kind: 'seed', who: null, rolled_back_to: null } as const,
    document: JSON.stringify(describeCatalogue(sold, upstreams())),
  };
  const reply = await store.ask(() => applyVersion(connection, order));
  if (reply.kind === 'applied')
    log.info({ at: clock.nowMs() }, 'the settings are the first catalogue');
}

interface Lost {
  readonly id: string;
  readonly known: KnownVersions;
  readonly headVersion: number;
}

/** Redis has lost the last versions, as in a failover: puts back those that this node knows. */
export async function restore(
  { connection, randomBytes, log }: OpenOptions,
  { id, known, headVersion }: Lost,
): Promise<void> {
  let baseVersion = headVersion;
  for (const { version, fromMs, origin, document } of known.all()) {
    if (version <= headVersion) continue;
    const reply = await applyVersion(connection, {
      ...{ catalogueId: id, baseVersion, version, fromMs, isRollback: false, origin, document },
      writeId: randomBase62(ID_CHARS, randomBytes),
    });
    if (reply.kind !== 'applied') return;
    log.warn({ version }, 'Redis had lost a version of the catalogue: this node has put it back');
    baseVersion = version;
  }
}
