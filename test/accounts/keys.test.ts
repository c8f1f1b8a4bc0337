import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '../../src/accounts/directory.ts';
import { bucketOfKey } from '../../src/keys/api-key.ts';
import { digestKey } from '../../src/keys/digest-key.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import { closeConnections, standalone, tcp } from '../support/servers/redis-connection.ts';
import {
  startRedisServer,
  stopRedisServers,
  type TestRedisServer,
} from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { dumpRedis, openDirectory, type TestDirectory } from './use-directory.ts';

const CONTROLS = {
  name: 'build server',
  rpm: 60,
  models: ['llm-opus-4.7', 'haiku'],
  capMicros: 4_000_000_000_000_000,
  inFlightMax: 3,
  expiresMs: Date.UTC(2040, 0, 1),
};
const DAY_MS = 86_400_000;

let redis: TestRedisServer;
let directory: TestDirectory;
let account: string;
const clock = { ms: 0, nowMs: () => clock.ms };

beforeAll(async () => {
  redis = await startRedisServer();
  directory = await openDirectory(standalone(tcp(redis.port)), clock);
});
beforeEach(async () => {
  clock.ms = Date.UTC(2030, 4, 31, 23);
  await redis.cli('flushall');
  account = (await directory.createAccount({ name: 'Acme', plan: 'team' })).id;
});
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});

const recordOf = (id: string) => keysOfBucket(bucketOfKey(id) ?? 0).key(id);
const readField = (id: string, field: string) => redis.cli('hget', recordOf(id), field);
const serverMs = async () => {
  const [seconds, micros] = (await redis.cli('time')).split('\n').map(Number);
  return (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000;
};

describe('a key', () => {
  it('works from the moment that it was told, and lives in the bucket of its account', async () => {
    const { key, record } = await directory.createKey(account, {});
    expect(await directory.check(key)).toBe('known');
    expect(record).toMatchObject({
      accountId: account,
      status: 'active',
      last4: key.slice(-4),
      models: undefined,
      rpm: undefined,
    });
    expect(await directory.getKey(record.id)).toEqual(record);
    expect(record.id.slice(0, 2)).toBe(account.slice(5, 7));
  });

  it('is not kept as a text anywhere', async () => {
    const { key, record } = await directory.createKey(account, CONTROLS);
    const rotated = await directory.rotateKey(record.id);
    const dump = JSON.stringify(await dumpRedis(directory));
    expect(dump).toContain(record.id);
    for (const text of [key, rotated.key]) expect(dump).not.toContain(text.slice(20, 40));
  });

  it('has the controls that it was given, in the words of the scripts', async () => {
    const { record } = await directory.createKey(account, CONTROLS);
    expect(await directory.getKey(record.id)).toMatchObject(CONTROLS);
    expect(await readField(record.id, 'models')).toBe(',llm-opus-4.7,haiku,');
    expect(await readField(record.id, 'cap')).toBe('4000000000000000');
    expect(await readField(record.id, 'in_flight_max')).toBe('3');
    expect(await readField(record.id, 'expires')).toBe(String(CONTROLS.expiresMs));
    expect(await readField(record.id, 'rpm')).toBe('60');
  });

  it('keeps the controls that a change does not name, and loses those that it removes', async () => {
    const { record } = await directory.createKey(account, CONTROLS);
    await directory.patchKey(record.id, { rpm: 5, models: null, capMicros: 0 });
    const { before, after } = await directory.patchKey(record.id, { name: null, expiresMs: null });
    expect(before).toMatchObject({ ...CONTROLS, rpm: 5, models: undefined, capMicros: 0 });
    expect(after).toMatchObject({
      name: '',
      rpm: 5,
      models: undefined,
      capMicros: 0,
      inFlightMax: 3,
      expiresMs: undefined,
    });
    expect(await directory.getKey(record.id)).toEqual(after);
    expect(await redis.cli('hexists', recordOf(record.id), 'models')).toBe('0');
  });

  it('that does not exist is told apart, whatever is asked of it', async () => {
    for (const id of ['00000000000', 'zzzzzzzzzzz', 'x']) {
      for (const ask of [
        () => directory.getKey(id),
        () => directory.patchKey(id, { rpm: 1 }),
        () => directory.rotateKey(id),
        () => directory.revokeKey(id),
      ]) {
        await expect(ask()).rejects.toMatchObject({ code: 'key_not_found' });
      }
    }
  });

  it('shows what was spent and is held in the month of now', async () => {
    const { record } = await directory.createKey(account, {});
    const hset = ['hset', recordOf(record.id)];
    await redis.cli(...hset, 'spent:203005', '70', 'held:203005', '5', 'spent:203006', '1');
    expect(await directory.getKey(record.id)).toMatchObject({ spentMicros: 70, heldMicros: 5 });
    clock.ms += 3_600_000;
    expect(await directory.getKey(record.id)).toMatchObject({ spentMicros: 1, heldMicros: 0 });
  });

  it('is one of at most ten thousand of its account', async () => {
    const set = keysOfBucket(bucketOfKey(`${account.slice(5, 7)}000000000`) ?? 0).keysOf(account);
    const fill = `for i = 1, 9999 do redis.call('SADD', KEYS[1], i) end`;
    await redis.cli('eval', fill, '1', set);
    await directory.createKey(account, {});
    await expect(directory.createKey(account, {})).rejects.toMatchObject({ code: 'too_many_keys' });
  });
});

describe('the keys of an account', () => {
  it('are listed with the oldest first, and no others', async () => {
    const other = await directory.createAccount({ name: 'Other', plan: 'pro' });
    await directory.createKey(other.id, {});
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) {
      clock.ms += 1;
      ids.push((await directory.createKey(account, {})).record.id);
    }
    expect((await directory.listKeys(account)).map(({ id }) => id)).toEqual(ids);
  });
});

describe('rotation', () => {
  it('keeps the id and the controls, and both secrets for the overlap', async () => {
    const { key, record } = await directory.createKey(account, CONTROLS);
    clock.ms += 1;
    const rotated = await directory.rotateKey(record.id);
    expect(rotated.after).toEqual({
      ...record,
      last4: rotated.key.slice(-4),
      rotatedMs: clock.ms,
      version: 2,
    });
    expect(rotated.key).not.toBe(key);
    expect(await directory.check(key)).toBe('known');
    expect(await directory.check(rotated.key)).toBe('known');
  });

  it('counts its overlap by the clock of the server: a day unless another is asked for', async () => {
    for (const [options, overlapMs] of [
      [undefined, DAY_MS],
      [{ overlapMs: 5_000 }, 5_000],
    ] as const) {
      const { record } = await directory.createKey(account, {});
      const earliest = Math.floor(await serverMs()) + overlapMs;
      await directory.rotateKey(record.id, options);
      const latest = (await serverMs()) + overlapMs;
      const until = Number(await readField(record.id, 'old_until'));
      expect(until).toBeGreaterThanOrEqual(earliest);
      expect(until).toBeLessThanOrEqual(latest);
    }
  });

  it('ends the old secret when the overlap is over, or at once without one', async () => {
    const first = await directory.createKey(account, {});
    const second = await directory.rotateKey(first.record.id, { overlapMs: 3_000 });
    expect(await directory.check(first.key)).toBe('known');
    await waitUntil(
      async () => (await directory.check(first.key)) === 'unknown',
      'the old secret has ended',
    );
    expect(await directory.check(second.key)).toBe('known');
    const third = await directory.rotateKey(first.record.id, { overlapMs: 0 });
    expect(await directory.check(second.key)).toBe('unknown');
    expect(await directory.check(third.key)).toBe('known');
  });

  it('happens once, of several that build on the same one', async () => {
    const { key, record } = await directory.createKey(account, {});
    for (const baseRotatedMs of [null, (await directory.rotateKey(record.id)).after.rotatedMs]) {
      const before = await readField(record.id, 'old_digest');
      const rotate = () => directory.rotateKey(record.id, { baseRotatedMs });
      const results = await Promise.allSettled([rotate(), rotate(), rotate()]);
      const reasons = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason.code] : [],
      );
      const isStale = baseRotatedMs === null;
      expect(reasons).toEqual(Array.from({ length: isStale ? 3 : 2 }, () => 'key_rotated'));
      expect((await readField(record.id, 'old_digest')) === before).toBe(isStale);
      expect(await directory.check(key)).toBe(isStale ? 'known' : 'unknown');
    }
  });

  it('does not give back what was spent', async () => {
    const { record } = await directory.createKey(account, CONTROLS);
    await redis.cli('hset', recordOf(record.id), 'spent:203005', '70');
    await directory.rotateKey(record.id);
    expect(await directory.getKey(record.id)).toMatchObject({ ...CONTROLS, spentMicros: 70 });
  });
});

describe('revocation', () => {
  it('ends both secrets at once', async () => {
    const { key, record } = await directory.createKey(account, {});
    const rotated = await directory.rotateKey(record.id);
    await directory.revokeKey(record.id);
    expect(await directory.check(key)).toBe('revoked');
    expect(await directory.check(rotated.key)).toBe('revoked');
  });

  it('is final: the key can be revoked again and nothing else', async () => {
    const { record } = await directory.createKey(account, {});
    await directory.revokeKey(record.id);
    await expect(directory.patchKey(record.id, { rpm: 5 })).rejects.toMatchObject({
      code: 'key_revoked',
    });
    await expect(directory.rotateKey(record.id)).rejects.toMatchObject({ code: 'key_revoked' });
    expect((await directory.revokeKey(record.id)).after.status).toBe('revoked');
    expect(await directory.getKey(record.id)).toMatchObject({ status: 'revoked', rpm: undefined });
  });

  it('that comes between the reading and the writing of a change stops the change', async () => {
    const { key, record } = await directory.createKey(account, {});
    const digest = await readField(record.id, 'digest');
    let isArmed = true;
    const { connection } = directory;
    const slow = createDirectory({
      connection: {
        ...connection,
        async send(command, args) {
          const reply = await connection.send(command, args);
          if (command === 'hmget' && isArmed) {
            isArmed = false;
            await directory.revokeKey(record.id);
          }
          return reply;
        },
      },
      countReplicas: directory.countReplicas,
      ...{ randomBytes, clock, warnings: () => DEFAULT_WARNINGS, digestKey },
    });
    await expect(slow.rotateKey(record.id)).rejects.toMatchObject({ code: 'key_revoked' });
    expect(await readField(record.id, 'digest')).toBe(digest);
    expect(await directory.check(key)).toBe('revoked');
  });

  it('wins over changes that are made at the same time', async () => {
    const { key, record } = await directory.createKey(account, {});
    await Promise.allSettled([
      directory.patchKey(record.id, { rpm: 1 }),
      directory.revokeKey(record.id),
      directory.rotateKey(record.id),
      directory.patchKey(record.id, { rpm: 2 }),
    ]);
    expect(await directory.getKey(record.id)).toMatchObject({ status: 'revoked' });
    expect(await directory.check(key)).toBe('revoked');
  });
});
