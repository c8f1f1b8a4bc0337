import type { Log } from '../../lib/log.ts';
import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { COUNT_KEYS } from '../../redis/redis-keys.ts';
import { forEachBucket } from '../stream/for-each-bucket.ts';

type Connection = Pick<RedisConnection, 'send'>;

export interface WaitingWatch {
  /** The entries that Redis has; undefined before the first count and when the last one is old. */
  waitingEntries(): number | undefined;
  stop(): void;
}

interface WatchWaitingOptions {
  readonly connection: Connection;
  readonly nodeId: string;
  readonly everyMs: number;
  /** How long a count stays valid if nobody can repeat it. */
  readonly keptMs: number;
  readonly log: Log;
}

const script = loadLuaScript(
  new URL('../stream/share-count.lua', import.meta.url),
  ['counter', 'waiting'],
  ['node_id', 'every_ms', 'kept_ms', 'counted'],
);

const CANNOT_COUNT =
  'the entries that wait for the books cannot be counted, so no request is refused for them';

/**
 * Knows how many entries all streams have. One node at a time counts them, again and again,
 * whether or not any node writes the books; the others read what it has counted. If counts fail,
 * the last one stays valid for a time: a node of a Cluster may be down. Then it is unknown.
 */
export function watchWaiting(options: WatchWaitingOptions): WaitingWatch {
  const { connection, nodeId, everyMs, keptMs, log } = options;
  let known: number | undefined;
  let knownMs = performance.now();
  let isLost = false;
  let failure: unknown;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const share = async (counted: number | ''): Promise<boolean> => {
    const args = { node_id: nodeId, every_ms: everyMs, kept_ms: keptMs, counted };
    const [isDue, waiting] = (await script.call(connection, COUNT_KEYS, args)) as [number, string];
    known = waiting === '' ? undefined : Number(waiting);
    if (known !== undefined) knownMs = performance.now();
    return isDue === 1;
  };

  const countIfDue = async () => {
    if (!(await share('')) || isStopped) return;
    const counted = await countEntries(connection, () => isStopped);
    if (!isStopped) await share(counted);
  };

  const logLoss = () => {
    const wasLost = isLost;
    isLost = performance.now() - knownMs > keptMs;
    if (isLost) known = undefined;
    if (isLost && !wasLost) log.error({ err: failure }, CANNOT_COUNT);
    if (!isLost && wasLost) log.info({}, 'the entries that wait for the books are counted again');
  };

  const repeat = async () => {
    await countIfDue().catch((error) => {
      failure = error;
    });
    if (isStopped) return;
    logLoss();
    timer = setTimeout(repeat, everyMs).unref();
  };
  void repeat();

  return {
    waitingEntries: () => known,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Rejects if a stream was not counted. */
async function countEntries(connection: Connection, isOver: () => boolean): Promise<number> {
  let entries = 0;
  const { failure } = await forEachBucket(isOver, async (bucket) => {
    const length = await connection.send('xlen', [keysOfBucket(bucket).ledger]);
    entries += Number(length);
  });
  if (failure !== undefined) throw failure;
  return entries;
}
