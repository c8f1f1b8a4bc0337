import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './connect-redis.ts';

const ROUND_INTERVAL_MS = 10_000;

export interface MemoryWatch {
  /**
   * The used share of `maxmemory`, from 0 to 1, of the fullest master. Undefined if a master did
   * not answer, or if none has such a limit.
   */
  usedShare(): number | undefined;
  stop(): void;
}

/** Asks every master every 10 s how much of its memory is used. */
export function watchMemory({ client }: Pick<RedisConnection, 'client'>): MemoryWatch {
  let share: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const ask = async (): Promise<void> => {
    share = await readUsedShare(client).catch(() => undefined);
    if (!isStopped) timer = setTimeout(ask, ROUND_INTERVAL_MS).unref();
  };
  void ask();

  return {
    usedShare: () => share,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

async function readUsedShare(client: Redis | Cluster): Promise<number | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const shares = await Promise.all(
    nodes.map(async (node) => parseShare(await node.info('memory'))),
  );
  const known = shares.filter((share) => share !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function parseShare(info: string): number | undefined {
  const read = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const limit = read('maxmemory');
  return limit === 0 ? undefined : read('used_memory') / limit;
}
