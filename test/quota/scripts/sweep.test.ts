import { describe, expect, it } from 'vitest';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import {
  BUCKET,
  LEASE_MS,
  MONTH,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts('sweep');

describe('sweep', () => {
  it('ends a hold when its lease has run out, and not before', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + LEASE_MS - 1);
    expect(await scripts.sweep()).toEqual({ swept: 0, chargedMicros: 0 });
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(await scripts.sweep()).toEqual({ swept: 0, chargedMicros: 0 });
    expect(await scripts.holds()).toEqual({});
    expect(await scripts.send('llen', redisKeys.leases)).toBe(0);
    expect(await scripts.account()).toMatchObject({ held: '0', balance: '1000' });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
    expect(await scripts.ledger()).toEqual([`expired it ${MONTH} 100 0 0 1000`]);
    expect(await scripts.done()).toEqual({ [requestNumber(1)]: 'x0' });
  });

  it.each([
    [40, 40],
    [100, 100],
    [170, 100],
  ])('charges what was seen last, %i of 100 held: %i', async (seen, charged) => {
    await scripts.admit();
    await scripts.renew(seen, { leaseMs: 1_000 });
    await scripts.setClock(NOW_MS + 1_000);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: charged });
    expect(await scripts.account()).toMatchObject({ held: '0', balance: `${1_000 - charged}` });
    expect(await scripts.key()).toMatchObject({ [`spent:${MONTH}`]: `${charged}` });
    expect(await scripts.ledger()).toEqual([
      `expired it ${MONTH} 100 ${charged} 0 ${1_000 - charged}`,
    ]);
  });

  it('charges the month of the admission', async () => {
    await scripts.admit();
    await scripts.renew(40);
    await scripts.setClock(Date.UTC(2027, 0, 1));
    await scripts.sweep();
    expect(await scripts.key()).toMatchObject({ [`spent:${MONTH}`]: '40' });
  });

  it('ends as many as it is told, the oldest first', async () => {
    for (const number of [1, 2, 3]) {
      await scripts.setClock(NOW_MS + number);
      await scripts.admit({ requestId: requestNumber(number) });
    }
    await scripts.setClock(NOW_MS + 60_000);
    expect(await scripts.sweep(2)).toEqual({ swept: 2, chargedMicros: 0 });
    expect(Object.keys(await scripts.holds())).toEqual([requestNumber(3)]);
    expect(await scripts.key()).toMatchObject({ in_flight: '1', [`held:${MONTH}`]: '100' });
  });

  it('forgets a lease that has no hold', async () => {
    await scripts.send('rpush', redisKeys.leases, requestNumber(1));
    expect(await scripts.sweep()).toEqual({ swept: 0, chargedMicros: 0 });
    expect(await scripts.send('llen', redisKeys.leases)).toBe(0);
    expect(await scripts.ledger()).toEqual([]);
  });

  it('ends a hold that runs no more behind one that was renewed', async () => {
    await scripts.admit();
    await scripts.admit({ requestId: requestNumber(2) });
    await scripts.renew(40);
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(Object.keys(await scripts.holds())).toEqual([requestNumber(1)]);
    await scripts.setClock(NOW_MS + 60_000);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 40 });
    expect(await scripts.holds()).toEqual({});
  });

  it('ends a request once that is listed twice', async () => {
    await scripts.admit();
    await scripts.send('rpush', redisKeys.leases, requestNumber(1));
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
    expect(await scripts.ledger()).toHaveLength(1);
  });

  it('forgets what has ended before it is due, up to the first one that runs', async () => {
    for (const number of [1, 2, 3]) await scripts.admit({ requestId: requestNumber(number) });
    await scripts.settle(10, { requestId: requestNumber(1) });
    await scripts.settle(10, { requestId: requestNumber(3) });
    expect(await scripts.sweep()).toEqual({ swept: 0, chargedMicros: 0 });
    const left = await scripts.send('lrange', redisKeys.leases, 0, -1);
    expect(left).toEqual([requestNumber(2), requestNumber(3)]);
  });

  it('looks at no more entries than it is told, and says that there may be more', async () => {
    const ids = [1, 2, 3, 4].map(requestNumber);
    await scripts.send('rpush', redisKeys.leases, ...ids);
    await scripts.send('zadd', redisKeys.renewals, 1, requestNumber(5));
    const fullness = [];
    for (let round = 0; round < 3; round++) {
      fullness.push((await sweep(scripts.connection, BUCKET, 2, DEFAULT_WARNINGS)).isFull);
    }
    expect(fullness).toEqual([true, true, false]);
    expect(await scripts.send('exists', redisKeys.leases, redisKeys.renewals)).toBe(0);
  });

  it('passes over a hold that nobody can read, and ends the others', async () => {
    await scripts.send('hset', redisKeys.holds, requestNumber(9), 'damaged|hold|-5|0|1');
    await scripts.send('rpush', redisKeys.leases, requestNumber(9));
    await scripts.send('zadd', redisKeys.renewals, 1, requestNumber(9));
    await scripts.admit();
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(Object.keys(await scripts.holds())).toEqual([requestNumber(9)]);
    expect(await scripts.send('exists', redisKeys.leases, redisKeys.renewals)).toBe(0);
  });

  it('ends nothing by half where the ledger takes no entry', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + LEASE_MS);
    await scripts.send('set', redisKeys.ledger, 'x');
    await expect(scripts.sweep()).rejects.toThrow('WRONGTYPE');
    expect(await scripts.account()).toMatchObject({ held: '100', balance: '1000' });
    await scripts.send('del', redisKeys.ledger);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(await scripts.account()).toMatchObject({ held: '0' });
  });

  it('ends what cost nothing and held nothing', async () => {
    await scripts.admit({ holdMicros: 0 });
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toEqual({ swept: 1, chargedMicros: 0 });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
  });

  it('leaves its mark for two hours at least', async () => {
    await scripts.admit();
    await scripts.setClock(NOW_MS + LEASE_MS);
    await scripts.sweep();
    const left = Number(await scripts.send('ttl', redisKeys.done(requestNumber(1))));
    expect(left).toBeGreaterThan(7_200);
  });
});
