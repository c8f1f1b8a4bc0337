import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMasterClock } from '../../src/lib/time/master-clock.ts';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { dumpRedis, openDirectory, systemClock, type TestDirectory } from './use-directory.ts';

const TEN_MINUTES_MS = 600_000;
const SOME_SECONDS_MS = 10_000;

let redis: TestRedisServer;
let directory: TestDirectory;
const clock = { aheadMs: 0, nowMs: () => systemClock.nowMs() + clock.aheadMs };

beforeAll(async () => {
  redis = await startRedisServer();
});
beforeEach(async () => {
  await redis.cli('flushall');
  clock.aheadMs = 0;
  directory = await openDirectory(standalone(tcp(redis.port)), clock);
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** Leaves what a master change leaves of a server whose last writes had not been replicated. */
async function loseWritesSince(copy: Record<string, unknown>): Promise<void> {
  await redis.cli('flushall');
  for (const [key, value] of Object.entries(copy)) {
    if (key.includes(':account:') || key.includes(':key:')) {
      await redis.cli(
        'hset',
        key,
        ...Object.entries(value as object)
          .flat()
          .map(String),
      );
    } else if (Array.isArray(value) && value.length > 0) {
      await redis.cli('sadd', key, ...value.map(String));
    }
  }
}

describe('repeating the writes of the last minutes', () => {
  it('brings back all that was acknowledged and lost, in order', async () => {
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    await directory.patchAccount(id, { name: 'Acme Ltd' });
    await directory.addCredits(id, { micros: 10, id: 'p', note: 'paid' });
    await directory.addCredits(id, { micros: -3, id: 'q', note: 'returned' });
    const first = await directory.createKey(id, { rpm: 5, models: ['opus'] });
    await directory.patchKey(first.record.id, { rpm: 6, models: null });
    const rotated = await directory.rotateKey(first.record.id);
    const second = await directory.createKey(id, {});
    await directory.revokeKey(second.record.id);
    const shown = () => Promise.all([directory.getAccount(id), directory.listKeys(id)]);
    const before = await shown();
    await redis.cli('flushall');
    await directory.replayRecentWrites();
    expect(await shown()).toEqual(before);
    expect(await directory.check(first.key)).toBe('known');
    expect(await directory.check(rotated.key)).toBe('known');
    expect(await directory.check(second.key)).toBe('revoked');
  });

  it('changes nothing where nothing was lost', async () => {
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    await directory.addCredits(id, { micros: 10, id: 'p', note: '' });
    const { record } = await directory.createKey(id, {});
    await directory.patchKey(record.id, { rpm: 6 });
    await directory.rotateKey(record.id);
    await directory.patchAccount(id, { status: 'suspended' });
    const before = await dumpRedis(directory);
    await directory.replayRecentWrites();
    await directory.replayRecentWrites();
    expect(await dumpRedis(directory)).toEqual(before);
  });

  it('leaves a later change by another node as it is', async () => {
    const other = await openDirectory(standalone(tcp(redis.port)));
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    const { record } = await directory.createKey(id, {});
    await directory.patchKey(record.id, { rpm: 5 });
    await other.patchKey(record.id, { rpm: 7 });
    await directory.replayRecentWrites();
    expect(await directory.getKey(record.id)).toMatchObject({ rpm: 7 });
  });

  describe('of two nodes that both lost a change of one record', () => {
    const target = () => standalone(tcp(redis.port));

    it('brings back both, whichever begins', async () => {
      const other = await openDirectory(target());
      const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
      const copy = await dumpRedis(directory);
      await directory.patchAccount(id, { status: 'suspended' });
      await other.patchAccount(id, { name: 'Acme Ltd' });
      await directory.patchAccount(id, { plan: 'team' });
      const before = await directory.getAccount(id);
      await loseWritesSince(copy);
      await Promise.all([other.replayRecentWrites(), directory.replayRecentWrites()]);
      expect(await directory.getAccount(id)).toEqual(before);
    });

    it('brings back what one did in an account that the other had made', async () => {
      const other = await openDirectory(target());
      const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
      await other.addCredits(id, { micros: 10, id: 'p', note: '' });
      await other.patchAccount(id, { name: 'Acme Ltd' });
      const before = await directory.getAccount(id);
      await redis.cli('flushall');
      await Promise.all([other.replayRecentWrites(), directory.replayRecentWrites()]);
      expect(await directory.getAccount(id)).toEqual(before);
    });

    it('brings back that of one when the other has not come for some seconds', async () => {
      const other = await openDirectory(target(), clock);
      const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
      const copy = await dumpRedis(directory);
      await directory.patchAccount(id, { name: 'Acme Ltd' });
      await other.patchAccount(id, { status: 'suspended' });
      await loseWritesSince(copy);
      const replay = other.replayRecentWrites();
      clock.aheadMs = SOME_SECONDS_MS;
      await replay;
      expect(await directory.getAccount(id)).toMatchObject({ name: 'Acme', status: 'suspended' });
    });
  });

  it('revokes again what somebody else has changed since the revocation was lost', async () => {
    const other = await openDirectory(standalone(tcp(redis.port)));
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    const { key, record } = await directory.createKey(id, {});
    const copy = await dumpRedis(directory);
    await directory.revokeKey(record.id);
    await loseWritesSince(copy);
    await other.patchKey(record.id, { rpm: 5 });
    expect(await directory.check(key)).toBe('known');
    await directory.replayRecentWrites();
    expect(await directory.check(key)).toBe('revoked');
  });

  it('tells of a change that was lost where somebody has changed the record since', async () => {
    const other = await openDirectory(standalone(tcp(redis.port)));
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    const copy = await dumpRedis(directory);
    await directory.patchAccount(id, { status: 'suspended' });
    await loseWritesSince(copy);
    await other.patchAccount(id, { name: 'Acme Ltd' });
    const told = (await directory.replayRecentWrites()).map(String);
    expect(told).toEqual([expect.stringContaining(`account ${id} (status)`)]);
    expect(await directory.getAccount(id)).toMatchObject({ name: 'Acme Ltd', status: 'active' });
  });

  it('tells of no change that so many others have followed that the record forgot it', async () => {
    const other = await openDirectory(standalone(tcp(redis.port)));
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    await directory.patchAccount(id, { status: 'suspended' });
    for (let i = 0; i < 20; i++) await other.patchAccount(id, { name: `Acme ${i}` });
    expect(await directory.replayRecentWrites()).toEqual([]);
  });

  it('takes back what was taken, even where requests hold it by now', async () => {
    const { id } = await directory.createAccount({ name: 'Acme', plan: 'pro' });
    await directory.addCredits(id, { micros: 10, id: 'p', note: '' });
    const copy = await dumpRedis(directory);
    await directory.addCredits(id, { micros: -4, id: 'q', note: 'returned' });
    await loseWritesSince(copy);
    const record = Object.keys(copy).find((key) => key.includes(':account:')) ?? '';
    await redis.cli('hset', record, 'held', '9');
    await redis.cli('hset', record.replace(/account:.*/, 'payments'), `${id}:p`, '10');
    await directory.replayRecentWrites();
    expect(await directory.getAccount(id)).toMatchObject({ balanceMicros: 6 });
  });

  it('forgets what is older than ten minutes', async () => {
    await directory.createAccount({ name: 'old', plan: 'pro' });
    clock.aheadMs = TEN_MINUTES_MS;
    const { id } = await directory.createAccount({ name: 'new', plan: 'pro' });
    await redis.cli('flushall');
    await directory.replayRecentWrites();
    const { accounts } = await directory.listAccounts({ limit: 10 });
    expect(accounts.map((account) => account.id)).toEqual([id]);
  });

  it('forgets nothing while no master answers', async () => {
    const masterClock = createMasterClock(clock);
    const watching = await openDirectory(standalone(tcp(redis.port)), clock, masterClock);
    const old = await watching.createAccount({ name: 'old', plan: 'pro' });
    clock.aheadMs = TEN_MINUTES_MS;
    masterClock.noteSame(TEN_MINUTES_MS);
    const last = await watching.createAccount({ name: 'last', plan: 'pro' });
    clock.aheadMs += 2 * TEN_MINUTES_MS;
    await redis.cli('flushall');
    await watching.replayRecentWrites();
    const { accounts } = await watching.listAccounts({ limit: 10 });
    expect(accounts.map(({ id }) => id)).toEqual([last.id]);
    expect(last.id).not.toBe(old.id);
  });

  it('goes on after one that can never be repeated, and tells of it', async () => {
    const broken = await directory.createAccount({ name: 'broken', plan: 'pro' });
    const whole = await directory.createAccount({ name: 'whole', plan: 'pro' });
    const record = await redis.cli('--scan', '--pattern', `*:account:${broken.id}`);
    await redis.cli('flushall');
    await redis.cli('set', record.trim(), 'no hash');
    const faults = await directory.replayRecentWrites();
    expect(faults.map(String)).toEqual([expect.stringContaining('WRONGTYPE')]);
    expect(await directory.getAccount(whole.id)).toMatchObject({ name: 'whole' });
  });

  it('says so when Redis is out', async () => {
    const other = await startRedisServer();
    const away = await openDirectory(standalone(tcp(other.port)));
    await away.createAccount({ name: 'Acme', plan: 'pro' });
    await other.stop();
    await expect(away.replayRecentWrites()).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
