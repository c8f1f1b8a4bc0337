import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './connect-redis.ts';

const ROUND_INTERVAL_MS = 10_000;

export interface MemoryWatch {
  /**
   * The used share of `maxmemory`, from 0 to 1, of the fullest master. Undefined if a master did
   * not answer, or if none has such a limit.
   */
  usedShare(): number | undefined;
  /** The same, but of the memory of its machine where a master has no such limit. */
  filledShare(): number | undefined;
  stop(): void;
}

/** Asks every master every 10 s how much of its memory is used. */
export function watchMemory({ client }: Pick<RedisConnection, 'client'>): MemoryWatch {
  let shares: MemoryShares = NO_SHARES;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const ask = async (): Promise<void> => {
    shares = await readShares(client).catch(() => NO_SHARES);
    if (!isStopped) timer = setTimeout(ask, ROUND_INTERVAL_MS).unref();
  };
  void ask();

  return {
    usedShare: () => shares.used,
    filledShare: () => shares.filled,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

interface MemoryShares {
  readonly used: number | undefined;
  readonly filled: number | undefined;
}

const NO_SHARES: MemoryShares = { used: undefined, filled: undefined };

async function readShares(client: Redis | Cluster): Promise<MemoryShares> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const infos = await Promise.all(nodes.map((node) => node.info('memory')));
  return {
    used: largest(infos.map((info) => shareOf(info, ['maxmemory']))),
    filled: largest(infos.map((info) => shareOf(info, ['maxmemory', 'total_system_memory']))),
  };
}

function largest(shares: readonly (number | undefined)[]): number | undefined {
  const known = shares.filter((share) => share !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** The share of the first limit that is set. */
function shareOf(info: string, limitNames: readonly string[]): number | undefined {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const limit = limitNames.map(read).find((bytes) => bytes > 0);
  return limit === undefined ? undefined : read('used_memory') / limit;
}
