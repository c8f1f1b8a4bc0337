import { BUCKETS } from '../../keys/bucket-tags.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { loadLuaScript } from '../../redis/lua-script.ts';
import { SWEEPER_KEYS } from '../../redis/redis-keys.ts';

type Connection = Pick<RedisConnection, 'send'>;

/** Which part of the buckets a node sweeps. */
export interface SweepShare {
  /** The place of the node among all that sweep, from 0. */
  readonly index: number;
  /** How many nodes sweep. */
  readonly count: number;
}

/** A node that is not heard for this long leaves its buckets to the others. */
const SWEEPER_LIFE_MS = 5_000;

const script = loadLuaScript(
  new URL('./share-sweeps.lua', import.meta.url),
  ['order', 'heard'],
  ['node_id', 'life_ms'],
);

/**
 * Says that the node is there, and learns its share. Shares of two nodes overlap for a moment
 * when a node comes or goes, which does no harm: two nodes may sweep the same bucket.
 */
export async function shareSweeps(
  connection: Connection,
  nodeId: string,
  lifeMs = SWEEPER_LIFE_MS,
): Promise<SweepShare> {
  const args = { node_id: nodeId, life_ms: lifeMs };
  const [index, count] = (await script.call(connection, SWEEPER_KEYS, args)) as [number, number];
  return { index, count };
}

/** Without it, the others wait until the node has not been heard for long enough. */
export async function leaveSweeps(connection: Connection, nodeId: string): Promise<void> {
  // In this order: a node that was heard but has no place is forgotten later, one that has a
  // place but was not heard is not.
  await connection.send('zrem', [SWEEPER_KEYS.order, nodeId]);
  await connection.send('zrem', [SWEEPER_KEYS.heard, nodeId]);
}

/** The buckets of a share: neighbours. Two shares differ by one bucket at most. */
export function bucketsOfShare({ index, count }: SweepShare): number[] {
  const first = Math.floor((index * BUCKETS) / count);
  const end = Math.floor(((index + 1) * BUCKETS) / count);
  return Array.from({ length: end - first }, (_, i) => first + i);
}
