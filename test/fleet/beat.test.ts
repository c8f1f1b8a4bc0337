import { expect, it } from 'vitest';
import { type Beat, LIFE_MS, sendBeat } from '../../src/fleet/beat.ts';
import { FLEET_KEYS } from '../../src/redis/redis-keys.ts';
import { useRedis } from '../books/use-redis.ts';

const redis = useRedis();
const BEAT: Beat = {
  state: 'up',
  ...{ uptime_ms: 1, version: '1', ops_url: null, catalogue_version: null },
  config: { path: null, version: '1', hash: 'a' },
  workers: { up: 1, wanted: 1 },
  upstreams: [],
  redis: { state: 'up' },
  ...{ is_ingesting: false, sweeps: 0, open: 0, requests_per_s: 0, rows: [] },
};

const beatOf = (run: string) =>
  sendBeat(redis.connection, {
    ...{ nodeId: `node-${run}`, run, beat: BEAT, detail: '' },
    ...{ hasEnded: false, facts: '', isListening: false },
    traffic: [] as never,
  });

it('a lease of a dead node ends in time, although a clock that was set back would keep it', async () => {
  await redis.server.cli('set', FLEET_KEYS.lease, 'dead', 'px', '10800000');
  expect((await beatOf('live')).isHolder).toBe(false);
  const leftMs = Number(await redis.server.cli('pttl', FLEET_KEYS.lease));
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(LIFE_MS);
});

it('a beat of another node never makes a lease longer', async () => {
  expect((await beatOf('holder')).isHolder).toBe(true);
  await redis.server.cli('pexpire', FLEET_KEYS.lease, '2000');
  expect((await beatOf('other')).isHolder).toBe(false);
  expect(Number(await redis.server.cli('pttl', FLEET_KEYS.lease))).toBeLessThanOrEqual(2_000);
});
