import { afterEach, describe, expect, it } from 'vitest';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { findBusyBuckets } from '../../../src/quota/sweeping/find-busy-buckets.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { closeConnections } from '../../support/servers/redis-connection.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { begin, createPayer, makePayer } from '../settle-scene.ts';
import { openServer } from './open-server.ts';

const ALL = Array.from({ length: 256 }, (_, bucket) => bucket);

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

describe('buckets that may have something to sweep', () => {
  it('are those with a request, a renewed one or an event, and their neighbours', async () => {
    const connection = await openServer();
    expect(await findBusyBuckets(connection, ALL)).toEqual([]);
    const { send } = connection;
    await send('rpush', [keysOfBucket(0).leases, 'request']);
    await send('zadd', [keysOfBucket(100).renewals, 1, 'request']);
    await send('xadd', [keysOfBucket(255).events, '*', 'kind', 'limit']);
    const busy = new Set(await findBusyBuckets(connection, ALL));
    expect([0, 100, 255].filter((bucket) => !busy.has(bucket))).toEqual([]);
    expect(busy.size).toBe(3 * 16);
    expect(new Set(await findBusyBuckets(connection, [99, 100, 101]))).toEqual(
      new Set([99, 100, 101]),
    );
    expect(await findBusyBuckets(connection, ALL.slice(101, 240))).toEqual([]);
  });

  it('have one from the admission of a request until it is swept', async () => {
    const connection = await openServer();
    const payer = makePayer(17);
    await createPayer(connection, payer);
    await begin(connection, payer, { leaseMs: 1 });
    expect(await findBusyBuckets(connection, ALL)).toContain(17);
    await waitUntil(async () => {
      await sweep(connection, 17, 100, DEFAULT_WARNINGS);
      return (await findBusyBuckets(connection, ALL)).length === 0;
    }, 'its lease has ended, and it is swept');
  });

  it('are all in a Cluster, where a command each would cost as much as the sweep', async () => {
    const connection = { isCluster: true, send: () => Promise.reject(new Error('not asked')) };
    expect(await findBusyBuckets(connection, ALL)).toEqual(ALL);
  });
});
