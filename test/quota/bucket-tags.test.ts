import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUCKETS, tagOfBucket } from '../../src/keys/bucket-tags.ts';
import { crc16, crc32 } from '../../src/keys/checksum.ts';
import * as redisKeys from '../../src/redis/redis-keys.ts';
import { bucketKeys } from '../../src/redis/redis-keys.ts';
import {
  closeConnections,
  openConnection,
  standalone,
  tcp,
} from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const tags = Array.from({ length: BUCKETS }, (_, bucket) => tagOfBucket(bucket));
/** The slot of each bucket, as a real node of a Cluster computes it. */
let slots: number[] = [];

beforeAll(async () => {
  const server = await startRedisServer({ args: ['--cluster-enabled', 'yes'] });
  const connection = openConnection(standalone(tcp(server.port)));
  await waitUntil(() => connection.client.status === 'ready', 'the server is there');
  const ask = (tag: string) => connection.send('cluster', ['keyslot', bucketKeys(tag).holds]);
  slots = (await Promise.all(tags.map(ask))).map(Number);
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

describe('the tags of the buckets', () => {
  it('are all different and short', () => {
    expect(new Set(tags).size).toBe(BUCKETS);
    for (const tag of tags) expect(tag).toMatch(/^[0-9a-z]{1,3}$/);
  });

  it('have no Redis key that stands for something else too', () => {
    const names = new Set(tags.flatMap((tag) => Object.values(bucketKeys(tag)).map(String)));
    const others = Object.values(redisKeys)
      .filter((value) => typeof value !== 'function')
      .flatMap((value) => (typeof value === 'string' ? [value] : Object.values(value)))
      .map(String);
    expect(others.length).toBeGreaterThan(20);
    expect(others.filter((name) => names.has(name))).toEqual([]);
  });

  it('lie in as many different ranges of slots, as a Redis Cluster computes them', () => {
    expect(slots.map((slot) => Math.floor(slot / 64))).toEqual(tags.map((_, bucket) => bucket));
  });

  it.each([3, 6, 12])('spread evenly over %i masters', (masters) => {
    const counts = new Array<number>(masters).fill(0);
    for (const slot of slots) {
      const master = Math.floor((slot * masters) / 16_384);
      counts[master] = (counts[master] ?? 0) + 1;
    }
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('cannot be had for a bucket that does not exist', () => {
    expect(() => tagOfBucket(BUCKETS)).toThrow('is a bucket');
    expect(() => tagOfBucket(-1)).toThrow('is a bucket');
  });
});

describe('the checksums', () => {
  it('give the check values of their standards', () => {
    expect(crc32('123456789')).toBe(0xcbf43926);
    expect(crc16('123456789')).toBe(0x31c3);
  });
});
