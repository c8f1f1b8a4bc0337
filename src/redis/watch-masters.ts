import { Cluster, type Redis } from 'ioredis';
import type { Log } from '../lib/log.ts';
import type { RedisConnection } from './connect-redis.ts';

export const ROUND_INTERVAL_MS = 1_000;

interface WatchMastersOptions {
  readonly connection: Pick<RedisConnection, 'client'>;
  readonly log: Log;
  /**
   * Another server holds the data now, or the same server after a restart: it may lack the last
   * writes. Also called for the masters that are seen first, since nobody knows which server took
   * the writes before.
   */
  readonly onChange: () => void;
  /**
   * The masters are the same as in the round before, this many milliseconds later. Not called while
   * one of them is away.
   */
  readonly onSame: (elapsedMs: number) => void;
}

/**
 * Only the primary of a node watches, and informs its workers. Asks every master about once a
 * second for its id. A replica that is promoted and a server that starts give themselves a new
 * id. Only complete answers are compared: while a master is away, nobody knows.
 */
export function watchMasters(options: WatchMastersOptions): { stop(): void } {
  const { connection, log, onChange, onSame } = options;
  let known: string | undefined;
  let seenAtMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const compare = (masters: string, nowMs: number) => {
    if (masters === known) {
      if (seenAtMs !== undefined) onSame(nowMs - seenAtMs);
      return;
    }
    if (known !== undefined) {
      log.warn({ masters }, 'another master of Redis has taken over, or it was started anew');
    }
    known = masters;
    onChange();
  };

  const ask = async (): Promise<void> => {
    const masters = await identifyMasters(connection.client).catch(() => undefined);
    if (isStopped) return;
    const nowMs = performance.now();
    if (masters !== undefined) compare(masters, nowMs);
    seenAtMs = masters === undefined ? undefined : nowMs;
    timer = setTimeout(ask, ROUND_INTERVAL_MS).unref();
  };
  void ask();

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Undefined if one of the nodes is not a master, or if there are no nodes. */
async function identifyMasters(client: Redis | Cluster): Promise<string | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const names = await Promise.all(nodes.map(identifyMaster));
  if (names.length === 0 || names.includes(undefined)) return undefined;
  return names.sort().join(' ');
}

async function identifyMaster(node: Redis): Promise<string | undefined> {
  const info = await node.info('replication');
  if (!/^role:master\r?$/m.test(info)) return undefined;
  const id = /^master_replid:(\S+)/m.exec(info)?.[1];
  if (id === undefined) return undefined;
  const { host, port, path } = node.options;
  return `${path ?? `${host}:${port}`}=${id}`;
}
