import { afterEach, describe, expect, it } from 'vitest';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import {
  bucketsOfShare,
  leaveSweeps,
  type SweepShare,
  shareSweeps,
} from '../../../src/quota/sweeping/share-sweeps.ts';
import { type Sweeper, startSweeper } from '../../../src/quota/sweeping/sweep-buckets.ts';
import { SWEEPER_KEYS } from '../../../src/redis/redis-keys.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { closeConnections, type TestConnection } from '../../support/servers/redis-connection.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { begin, createPayer, makePayer, readLedger } from '../settle-scene.ts';
import { openServer } from './open-server.ts';

const BUCKETS = 256;
const sweepers: Sweeper[] = [];

afterEach(async () => {
  await Promise.all(sweepers.splice(0).map((sweeper) => sweeper.stop()));
  await closeConnections();
  await stopRedisServers();
});

/** A node that sweeps on a real server. `swept` has how often it visited each bucket. */
function startNode(connection: TestConnection, nodeId: string) {
  const swept = new Map<number, number>();
  const log = createMemoryLog();
  let isDead = false;
  const fail = () => Promise.reject(new Error('it is dead'));
  const sweeper = startSweeper({
    learnShare: () => (isDead ? fail() : shareSweeps(connection, nodeId)),
    leave: () => (isDead ? fail() : leaveSweeps(connection, nodeId)),
    findBusy: async (buckets) => buckets,
    sweep(bucket, countMax) {
      if (isDead) return fail();
      swept.set(bucket, (swept.get(bucket) ?? 0) + 1);
      return sweep(connection, bucket, countMax, DEFAULT_WARNINGS);
    },
    random: Math.random,
    log,
    onEvents: () => {},
    onSwept: () => {},
  });
  sweepers.push(sweeper);
  return {
    sweeper,
    swept,
    /** It says nothing any more, and does not leave. */
    die() {
      isDead = true;
    },
  };
}

const countsOf = (nodes: readonly { readonly sweeper: Sweeper }[]) =>
  nodes.map(({ sweeper }) => sweeper.bucketCount()).sort((a, b) => a - b);

describe('shares of the sweeps', () => {
  it.each([1, 2, 3, 5, 100, 256, 1_000])(
    'of %i nodes are all buckets, once and evenly',
    (count) => {
      const shares = Array.from({ length: count }, (_, index) => bucketsOfShare({ index, count }));
      expect(shares.flat()).toEqual(Array.from({ length: BUCKETS }, (_, bucket) => bucket));
      const sizes = shares.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    },
  );

  it('count the nodes that were heard, each at a place of its own', async () => {
    const connection = await openServer();
    const ask = async (): Promise<SweepShare[]> => {
      const shares: SweepShare[] = [];
      for (const node of ['b', 'c', 'a']) shares.push(await shareSweeps(connection, node));
      return shares;
    };
    await ask();
    expect(await ask()).toEqual([
      { index: 1, count: 3 },
      { index: 2, count: 3 },
      { index: 0, count: 3 },
    ]);
    await leaveSweeps(connection, 'a');
    expect(await shareSweeps(connection, 'c')).toEqual({ index: 1, count: 2 });
    expect(await connection.send('zrange', [SWEEPER_KEYS.heard, '0', '-1'])).toEqual(['b', 'c']);
  });

  it('forget a node that was not heard for its life, also if the clock was set back', async () => {
    const connection = await openServer();
    await shareSweeps(connection, 'ahead');
    await shareSweeps(connection, 'dead');
    const farAheadMs = String(Date.now() + 3_600_000);
    await connection.send('zadd', [SWEEPER_KEYS.heard, farAheadMs, 'ahead', '1', 'dead']);
    expect(await shareSweeps(connection, 'alive')).toEqual({ index: 1, count: 2 });
    const isForgotten = async () => (await shareSweeps(connection, 'alive', 200)).count === 1;
    await waitUntil(isForgotten, 'the one with a time ahead is forgotten too');
  });
});

describe('several nodes that sweep', () => {
  it('divide the buckets evenly, and take over those of a node that died or left', async () => {
    const connection = await openServer();
    const [a, b, c] = [
      startNode(connection, 'a'),
      startNode(connection, 'b'),
      startNode(connection, 'c'),
    ];
    await waitUntil(() => countsOf([a, b, c]).join() === '85,85,86', 'each has its third');
    b.die();
    await waitUntil(() => countsOf([a, c]).join() === '128,128', 'each has a half');
    await a.sweeper.stop();
    await waitUntil(() => c.sweeper.bucketCount() === BUCKETS, 'one has them all');
  });

  it('end the holds of a dead worker whose bucket a dead node swept', async () => {
    const connection = await openServer();
    const payer = makePayer(0);
    await createPayer(connection, payer);
    const [a, b] = [startNode(connection, 'a'), startNode(connection, 'b')];
    await waitUntil(() => countsOf([a, b]).join() === '128,128', 'each has its half');
    // The first place, and so bucket 0, is the first node's.
    a.die();
    await begin(connection, payer, { leaseMs: 1 });
    const isSwept = async () => (await readLedger(connection, 0)).length === 1;
    await waitUntil(isSwept, 'the other node has swept it');
  });

  it('keep their shares while the store does not say who is there', async () => {
    const visits = new Set<number>();
    let isOut = false;
    const sweeper = startSweeper({
      learnShare: () =>
        isOut ? Promise.reject(new Error('CLUSTERDOWN')) : Promise.resolve({ index: 1, count: 2 }),
      leave: async () => {},
      findBusy: async (buckets) => buckets,
      async sweep(bucket) {
        visits.add(bucket);
        return { swept: 0, chargedMicros: 0, isFull: false, hasEvents: false };
      },
      random: Math.random,
      log: createMemoryLog(),
      onEvents: () => {},
      onSwept: () => {},
    });
    sweepers.push(sweeper);
    await waitUntil(() => visits.size === BUCKETS / 2, 'its share is swept');
    isOut = true;
    visits.clear();
    await waitUntil(() => visits.size === BUCKETS / 2, 'it goes on with its share');
    expect(Math.min(...visits)).toBe(BUCKETS / 2);
  });
});
