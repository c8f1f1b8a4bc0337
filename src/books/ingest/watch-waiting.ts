import { keysOfBucket } from '../../quota/keys-of-bucket.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { COUNT_KEYS } from '../../redis/redis-keys.ts';
import { forEachBucket } from '../stream/for-each-bucket.ts';

type Connection = Pick<RedisConnection, 'send'>;

export interface WaitingWatch {
  /** The entries that Redis has; undefined before the first count. */
  waitingEntries(): number | undefined;
  stop(): void;
}

interface WatchWaitingOptions {
  readonly connection: Connection;
  readonly nodeId: string;
  readonly everyMs: number;
}

const script = loadLuaScript(
  new URL('../stream/share-count.lua', import.meta.url),
  ['counter', 'waiting'],
  ['node_id', 'every_ms', 'counted'],
);

/**
 * Knows how many entries all streams have. One node at a time counts them, again and again, whether
 * or not any node writes the books; the others read what it has counted. A count that fails is left
 * out: the last one stays.
 */
export function watchWaiting(options: WatchWaitingOptions): WaitingWatch {
  const { connection, nodeId, everyMs } = options;
  let known: number | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const share = async (counted: number | ''): Promise<boolean> => {
    const args = { node_id: nodeId, every_ms: everyMs, counted };
    const [isDue, waiting] = (await script.call(connection, COUNT_KEYS, args)) as [number, string];
    if (waiting !== '') known = Number(waiting);
    return isDue === 1;
  };

  const look = async () => {
    if (!(await share('')) || isStopped) return;
    const counted = await countEntries(connection, () => isStopped);
    if (counted !== undefined) await share(counted);
  };

  const repeat = async () => {
    await look().catch(() => {});
    if (!isStopped) timer = setTimeout(repeat, everyMs).unref();
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

/** Undefined if a stream was not counted. */
async function countEntries(
  connection: Connection,
  isOver: () => boolean,
): Promise<number | undefined> {
  let entries = 0;
  const { failure } = await forEachBucket(isOver, async (bucket) => {
    const length = await connection.send('xlen', [keysOfBucket(bucket).ledger]);
    entries += Number(length);
  });
  return failure === undefined && !isOver() ? entries : undefined;
}
