import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type LossyProxy, startLossyProxy } from './start-lossy-proxy.ts';
import { openDirectory, type TestDirectory } from './use-directory.ts';

/** More replies than any of these operations needs. */
const REPLIES_MAX = 20;

let redis: TestRedisServer;
let proxy: LossyProxy;
let directory: TestDirectory;
/** Runs on a connection that loses nothing. */
let observer: TestDirectory;

beforeAll(async () => {
  redis = await startRedisServer();
  proxy = await startLossyProxy(redis.port);
  directory = await openDirectory(standalone(tcp(proxy.port)));
  observer = await openDirectory(standalone(tcp(redis.port)));
});
beforeEach(async () => {
  await redis.cli('flushall');
});
afterAll(async () => {
  await closeConnections();
  await proxy.stop();
  await stopRedisServers();
});

/**
 * Repeats an operation, each time with another of its replies lost. Returns how many replies were
 * lost.
 */
async function loseEachReply(run: () => Promise<void>): Promise<number> {
  for (let index = 0; index < REPLIES_MAX; index++) {
    await waitUntil(() => directory.connection.client.status === 'ready', 'it is connected');
    proxy.loseReplyAfter(index);
    await run();
    if (!proxy.wasLost()) return index;
  }
  throw new Error('there is no end of replies');
}

describe('a lost reply', () => {
  it('does not make two accounts of one', async () => {
    let created = 0;
    const lost = await loseEachReply(async () => {
      await directory.createAccount({ name: 'Acme', plan: 'pro' });
      created += 1;
    });
    expect(lost).toBeGreaterThan(0);
    const { accounts } = await observer.listAccounts({ limit: 100 });
    expect(accounts).toHaveLength(created);
  });

  it('does not make two keys of one, and the key that is told works', async () => {
    const { id } = await observer.createAccount({ name: 'Acme', plan: 'pro' });
    const keys: string[] = [];
    const lost = await loseEachReply(async () => {
      keys.push((await directory.createKey(id, { rpm: 5 })).key);
    });
    expect(lost).toBeGreaterThan(2);
    expect(await observer.listKeys(id)).toHaveLength(keys.length);
    for (const key of keys) expect(await observer.check(key)).toBe('known');
  });

  it('does not enter a payment twice', async () => {
    const { id } = await observer.createAccount({ name: 'Acme', plan: 'pro' });
    let payments = 0;
    const lost = await loseEachReply(async () => {
      payments += 1;
      const payment = { micros: 7, id: `p${payments}`, note: '' };
      expect(await directory.addCredits(id, payment)).toMatchObject({ isRepeated: false });
    });
    expect(lost).toBeGreaterThan(0);
    expect(await observer.getAccount(id)).toMatchObject({ balanceMicros: 7 * payments });
  });

  it('does not rotate twice: the secret before is the one that goes on', async () => {
    const { id } = await observer.createAccount({ name: 'Acme', plan: 'pro' });
    const { key, record } = await observer.createKey(id, {});
    let current = key;
    const checks: string[] = [];
    let rotations = 0;
    const lost = await loseEachReply(async () => {
      const rotated = await directory.rotateKey(record.id);
      rotations += 1;
      checks.push(await observer.check(current), await observer.check(rotated.key));
      current = rotated.key;
    });
    expect(lost).toBeGreaterThan(1);
    expect(new Set(checks)).toEqual(new Set(['known']));
    expect((await observer.getKey(record.id)).version).toBe(1 + rotations);
  });

  it('of a revocation leaves the key revoked', async () => {
    const { id } = await observer.createAccount({ name: 'Acme', plan: 'pro' });
    const keys: string[] = [];
    const lost = await loseEachReply(async () => {
      const { key, record } = await directory.createKey(id, {});
      keys.push(key);
      expect((await directory.revokeKey(record.id)).after.status).toBe('revoked');
    });
    expect(lost).toBeGreaterThan(3);
    for (const key of keys) expect(await observer.check(key)).toBe('revoked');
  });
});

describe('Redis that is out', () => {
  it('is told as such after a while, and what it refused can be asked for again', async () => {
    const other = await startRedisServer();
    const away = await openDirectory(standalone(tcp(other.port)));
    const { id } = await away.createAccount({ name: 'Acme', plan: 'pro' });
    other.signal('SIGSTOP');
    const payment = { micros: 7, id: 'p', note: '' };
    const refused = { code: 'store_unavailable' };
    await expect(away.addCredits(id, payment)).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/whether a change took place is not known$/),
    });
    other.signal('SIGCONT');
    await waitUntil(
      () =>
        away.addCredits(id, payment).then(
          () => true,
          () => false,
        ),
      'the payment is entered',
    );
    expect(await away.getAccount(id)).toMatchObject({ balanceMicros: 7 });
    await other.stop();
    await expect(away.getAccount(id)).rejects.toMatchObject({
      ...refused,
      message: 'Redis does not answer at the moment',
    });
  });
});
