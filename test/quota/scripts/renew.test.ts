import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  KEY,
  MODEL,
  MONTH,
  NOW_MS,
  openScripts,
  REQUEST,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts('renew');
/** Five minutes less than marks are kept at least. */
const AGE_MAX_MS = 6_900_000;
const holdOf = (held: number, seen: number) => ({
  [REQUEST]: `${ACCOUNT}|${KEY}|${MONTH}|${MODEL}|${held}|${seen}`,
});

describe('renew', () => {
  it('extends the lease and notes what was seen', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + 5_000);
    expect(await scripts.renew(40)).toBe('active');
    expect(await scripts.leaseEnd()).toBe(NOW_MS + 65_000);
    expect(await scripts.holds()).toEqual(holdOf(100, 40));
    expect(await scripts.account()).toMatchObject({ held: '100' });
    expect(await scripts.key()).toMatchObject({ in_flight: '1', [`held:${MONTH}`]: '100' });
  });

  it('extends the lease each time', async () => {
    await scripts.admit();
    for (const afterMs of [5_000, 15_000]) {
      await scripts.setClock(NOW_MS + afterMs);
      await scripts.renew(40);
      expect(await scripts.leaseEnd()).toBe(NOW_MS + afterMs + 60_000);
    }
  });

  it('holds no more and no less than was admitted, whatever it is told', async () => {
    await scripts.admit();
    await scripts.renew(40, { heldMicros: 70 });
    expect(await scripts.holds()).toEqual(holdOf(100, 40));
    expect(await scripts.account()).toMatchObject({ held: '100' });
  });

  it('tells that the key was revoked or the account suspended, and goes on holding', async () => {
    await scripts.admit();
    await scripts.setKey({ status: 'revoked' });
    expect(await scripts.renew(40)).toBe('revoked');
    await scripts.setKey({ status: 'active' });
    await scripts.setAccount({ status: 'suspended' });
    expect(await scripts.renew(50)).toBe('suspended');
    expect(await scripts.holds()).toEqual(holdOf(100, 50));
  });

  it('brings nothing back that was swept or settled', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + 20_000);
    await scripts.sweep();
    expect(await scripts.renew(40)).toBe('gone');
    const other = requestNumber(2);
    await scripts.admit({ requestId: other });
    await scripts.settle(10, { requestId: other });
    expect(await scripts.renew(40, { requestId: other })).toBe('gone');
    expect(await scripts.holds()).toEqual({});
    expect(await scripts.account()).toMatchObject({ held: '0' });
  });

  it('keeps what was swept known for as long as its request runs, so that it is not charged twice', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + 20_000);
    await scripts.sweep();
    await scripts.send('expire', redisKeys.done(REQUEST), '60');
    expect(await scripts.renew(40)).toBe('gone');
    expect(Number(await scripts.send('ttl', redisKeys.done(REQUEST)))).toBeGreaterThan(7_200);
  });

  it('tells also of what was swept that its key was revoked', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + 20_000);
    await scripts.sweep();
    await scripts.setKey({ status: 'revoked' });
    expect(await scripts.renew(40)).toBe('revoked');
    expect(await scripts.holds()).toEqual({});
  });

  it('makes a hold again that a failover lost', async () => {
    expect(await scripts.renew(40)).toBe('active');
    expect(await scripts.renew(50)).toBe('active');
    expect(await scripts.holds()).toEqual(holdOf(100, 50));
    expect(await scripts.account()).toMatchObject({ held: '100' });
    expect(await scripts.key()).toMatchObject({ in_flight: '1', [`held:${MONTH}`]: '100' });
    expect(await scripts.leaseEnd()).toBe(NOW_MS + 60_000);
  });

  it('makes none again of a request whose mark may be gone, since it may have been charged', async () => {
    await scripts.setClock(NOW_MS + AGE_MAX_MS + 1);
    expect(await scripts.renew(40)).toBe('gone');
    await scripts.setKey({ status: 'revoked' });
    expect(await scripts.renew(40)).toBe('revoked');
    expect(await scripts.holds()).toEqual({});
    expect(await scripts.account()).not.toHaveProperty('held');
    await scripts.setKey({ status: 'active' });
    await scripts.setClock(NOW_MS + AGE_MAX_MS);
    expect(await scripts.renew(40)).toBe('active');
  });

  it.each([
    ['the balance', { balance: 1_000, held: 930 }, {}, 70],
    ['the cap', {}, { cap: 200, [`spent:${MONTH}`]: 60, [`held:${MONTH}`]: 80 }, 60],
    ['a balance below nothing', { balance: -5 }, {}, 0],
  ])('takes from nobody what %s has room for no more', async (_, account, key, held) => {
    await scripts.setAccount(account);
    await scripts.setKey(key);
    expect(await scripts.renew(40)).toBe('active');
    expect(await scripts.holds()).toEqual(holdOf(held, 40));
    // The next renewal still asks for the whole amount.
    await scripts.setAccount({ balance: 5_000 });
    expect(await scripts.renew(45)).toBe('active');
    expect(await scripts.holds()).toEqual(holdOf(held, 45));
    const before = 'held' in account ? account.held : 0;
    expect(await scripts.account()).toMatchObject({ held: `${before + held}` });
  });
});

describe('renew: a number that is none', () => {
  it.each(['-1', '0.5', '9007199254740992', 'nan', 'inf', ''])(
    '%s changes nothing',
    async (odd) => {
      await scripts.admit();
      for (const fromEnd of [1, 2, 3, 4]) {
        const [holds, leaseEnd] = [await scripts.holds(), await scripts.leaseEnd()];
        scripts.changeArgs((args) => args.with(-fromEnd, odd));
        await expect(scripts.renew(40)).rejects.toThrow('amounts');
        scripts.changeArgs((args) => args);
        expect([await scripts.holds(), await scripts.leaseEnd()]).toEqual([holds, leaseEnd]);
      }
    },
  );

  it('in the hold that is there makes it a lost one', async () => {
    await scripts.send('hset', redisKeys.holds, REQUEST, 'damaged|hold|-5|0');
    expect(await scripts.renew(40)).toBe('active');
    expect(await scripts.settle(50)).toMatchObject({ kind: 'charge', balanceMicros: 950 });
    expect(await scripts.account()).toMatchObject({ held: '0' });
  });
});
