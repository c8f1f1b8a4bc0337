import { describe, expect, it } from 'vitest';
import { LEASE_MS, MONTH, NOW_MS, openScripts, redisKeys, requestNumber } from './open-scripts.ts';

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
    expect(await scripts.send('zcard', redisKeys.leases)).toBe(0);
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
    await scripts.send('zadd', redisKeys.leases, 1, requestNumber(1));
    expect(await scripts.sweep()).toEqual({ swept: 0, chargedMicros: 0 });
    expect(await scripts.send('zcard', redisKeys.leases)).toBe(0);
    expect(await scripts.ledger()).toEqual([]);
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
