import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  DIGEST,
  KEY,
  LEASE_MS,
  MODEL,
  MONTH,
  NOW_MS,
  openScripts,
  REQUEST,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts('admit');
const admitted = { kind: 'admitted', accountId: ACCOUNT, month: MONTH };

describe('admit: who may ask', () => {
  it('knows no key that was never written, nor another digest', async () => {
    expect(await scripts.admit({ keyId: '03another01' })).toEqual({ kind: 'unknown' });
    expect(await scripts.admit({ digest: 'other' })).toEqual({ kind: 'unknown' });
  });

  it('takes the digest before the last one until its overlap ends', async () => {
    await scripts.setKey({ digest: 'new', old_digest: DIGEST, old_until: NOW_MS + 1 });
    expect(await scripts.admit()).toMatchObject(admitted);
    expect(await scripts.admit({ digest: 'new', requestId: requestNumber(2) })).toMatchObject(
      admitted,
    );
    await scripts.setClock(NOW_MS + 1);
    expect(await scripts.admit({ requestId: requestNumber(3) })).toEqual({ kind: 'unknown' });
  });

  it('says that a key is revoked to those who know its secret', async () => {
    await scripts.setKey({ status: 'revoked' });
    expect(await scripts.admit()).toEqual({ kind: 'revoked' });
    expect(await scripts.admit({ digest: 'other' })).toEqual({ kind: 'unknown' });
  });

  it('takes a key until its last millisecond', async () => {
    await scripts.setKey({ expires: NOW_MS + 1 });
    expect(await scripts.admit()).toMatchObject(admitted);
    await scripts.setClock(NOW_MS + 1);
    expect(await scripts.admit({ requestId: requestNumber(2) })).toEqual({ kind: 'expired' });
  });

  it('refuses a suspended account', async () => {
    await scripts.setAccount({ status: 'suspended' });
    expect(await scripts.admit()).toEqual({ kind: 'suspended' });
  });

  it.each([
    [`,${MODEL},`, 'admitted'],
    [',sonnet,', 'admitted'],
    [',opus,sonnet,', 'admitted'],
    [',opus,', 'model'],
    [',llm-sonnet,', 'model'],
    [',llm-sonnet-4.6-large,', 'model'],
    [',llm-sonnet-4x6,', 'model'],
  ])('a key for the models %s is %s', async (models, kind) => {
    await scripts.setKey({ models });
    expect(await scripts.admit()).toMatchObject({ kind });
  });

  it('lets a key have as many requests at once as it may', async () => {
    await scripts.setKey({ in_flight_max: 2 });
    expect(await scripts.admit()).toMatchObject(admitted);
    expect(await scripts.admit({ requestId: requestNumber(2) })).toMatchObject(admitted);
    expect(await scripts.admit({ requestId: requestNumber(3) })).toMatchObject({
      kind: 'in_flight',
      inFlightMax: 2,
      rate: { left: 998 },
    });
    await scripts.settle(1);
    expect(await scripts.admit({ requestId: requestNumber(3) })).toMatchObject(admitted);
  });

  it('refuses a rate without taking a place for money', async () => {
    await scripts.setAccount({ plan: 'starter' });
    for (const number of [2, 3]) await scripts.admit({ requestId: requestNumber(number) });
    expect(await scripts.admit()).toMatchObject({ kind: 'rate', scope: 'account', waitMs: 60_000 });
    expect(await scripts.account()).toMatchObject({ held: '200' });
  });
});

describe('admit: what is held', () => {
  it('is noted with the account, the key and the month, for one lease', async () => {
    expect(await scripts.admit()).toEqual({
      ...admitted,
      heldMicros: 100,
      rate: { nowMs: NOW_MS, limit: 1_000, left: 999, resetMs: 60_000, windowMs: 60_000 },
    });
    expect(await scripts.account()).toMatchObject({ held: '100', balance: '1000' });
    expect(await scripts.key()).toMatchObject({ [`held:${MONTH}`]: '100', in_flight: '1' });
    expect(await scripts.holds()).toEqual({
      [REQUEST]: `${ACCOUNT}|03thekey001|${MONTH}|${MODEL}|100|0|${NOW_MS + LEASE_MS}`,
    });
    expect(await scripts.leaseEnd()).toBe(NOW_MS + LEASE_MS);
  });

  it('is held once, however often a request is asked for', async () => {
    const first = await scripts.admit();
    expect(await scripts.admit()).toEqual({
      ...first,
      rate: expect.objectContaining({ left: 999 }),
    });
    expect(await scripts.account()).toMatchObject({ held: '100' });
    expect(await scripts.key()).toMatchObject({ in_flight: '1' });
    expect(await scripts.admissions()).toHaveLength(1);
  });

  it('is not held again for a request that was settled', async () => {
    await scripts.admit();
    await scripts.settle(10);
    expect(await scripts.admit()).toEqual({ kind: 'finished' });
  });

  it.each([
    ['rate', { plan: 'starter' }, {}],
    ['in_flight', {}, { in_flight_max: 2 }],
    ['cap', {}, { cap: 250 }],
    ['balance', { balance: 250 }, {}],
  ])('is answered as before, even where another one is refused: %s', async (kind, account, key) => {
    await scripts.setAccount(account);
    await scripts.setKey(key);
    await scripts.admit();
    const settled = { requestId: requestNumber(2) };
    await scripts.admit(settled);
    await scripts.settle(100, settled);
    await scripts.admit({ requestId: requestNumber(3) });
    expect(await scripts.admit({ requestId: requestNumber(4) })).toMatchObject({ kind });
    expect(await scripts.admit()).toMatchObject({ ...admitted, heldMicros: 100 });
    expect(await scripts.admit(settled)).toEqual({ kind: 'finished' });
  });

  it.each([
    [{ balance: 100 }, 'admitted'],
    [{ balance: 99 }, 'balance'],
    [{ balance: 150, held: 50 }, 'admitted'],
    [{ balance: 150, held: 51 }, 'balance'],
    [{ balance: -5 }, 'balance'],
  ])('fits into the balance that nobody else holds: %j is %s', async (account, kind) => {
    await scripts.setAccount(account);
    expect(await scripts.admit()).toMatchObject({ kind });
    expect(await scripts.admissions()).toHaveLength(kind === 'admitted' ? 1 : 0);
  });

  it.each([
    [{ cap: 100 }, 'admitted'],
    [{ cap: 99 }, 'cap'],
    [{ cap: 160, [`spent:${MONTH}`]: 60 }, 'admitted'],
    [{ cap: 160, [`spent:${MONTH}`]: 61 }, 'cap'],
    [{ cap: 160, [`spent:${MONTH}`]: 50, [`held:${MONTH}`]: 10 }, 'admitted'],
    [{ cap: 160, [`spent:${MONTH}`]: 50, [`held:${MONTH}`]: 11 }, 'cap'],
    [{ cap: 100, 'spent:202610': 60, 'held:202610': 60 }, 'admitted'],
  ])('fits under the cap of the month: %j is %s', async (key, kind) => {
    await scripts.setKey(key);
    expect(await scripts.admit()).toMatchObject({ kind });
    expect(await scripts.admissions()).toHaveLength(kind === 'admitted' ? 1 : 0);
  });

  it('is refused with the figures that say why', async () => {
    await scripts.setAccount({ balance: 50, held: 5 });
    await scripts.setKey({ cap: 900, [`spent:${MONTH}`]: 20, [`held:${MONTH}`]: 5 });
    expect(await scripts.admit()).toMatchObject({
      kind: 'balance',
      balanceMicros: 50,
      heldMicros: 5,
    });
    expect(await scripts.admit({ holdMicros: 1_000 })).toMatchObject({
      kind: 'cap',
      capMicros: 900,
      spentMicros: 20,
      heldMicros: 5,
    });
  });

  it.each([
    [40, 60],
    [60, 60],
    [61, undefined],
  ])('shrinks to what is free, but not below %i', async (holdLeastMicros, heldMicros) => {
    await scripts.setAccount({ balance: 60 });
    const reply = await scripts.admit({ holdLeastMicros });
    expect(reply).toMatchObject(heldMicros === undefined ? { kind: 'balance' } : { heldMicros });
    await scripts.setAccount({ balance: 1_000, held: 0 });
    await scripts.setKey({ cap: 60, [`held:${MONTH}`]: 0 });
    const byCap = await scripts.admit({ holdLeastMicros, requestId: requestNumber(2) });
    expect(byCap).toMatchObject(heldMicros === undefined ? { kind: 'cap' } : { heldMicros });
  });

  it('may be nothing, for a model that costs nothing', async () => {
    await scripts.setAccount({ balance: 0 });
    expect(await scripts.admit({ holdMicros: 0 })).toMatchObject({
      kind: 'admitted',
      heldMicros: 0,
    });
    expect(await scripts.settle(0)).toMatchObject({ kind: 'release', chargedMicros: 0 });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
  });

  it.each([
    ['2026-11-30T23:59:59.999Z', '202611'],
    ['2026-12-01T00:00:00.000Z', '202612'],
    ['2026-12-31T23:59:59.999Z', '202612'],
    ['2027-01-01T00:00:00.000Z', '202701'],
  ])('at %s is held of the month %s', async (time, month) => {
    await scripts.setClock(Date.parse(time));
    await scripts.setKey({ cap: 100 });
    expect(await scripts.admit()).toMatchObject({ kind: 'admitted', month });
    expect(await scripts.key()).toMatchObject({ [`held:${month}`]: '100' });
  });
});

const ODD_NUMBERS = [-1, -1e15, 0.5, 2 ** 53, 1e300, Number.NaN, 1 / 0, -1 / 0];
const ORDERS = [1, 2, 3].map((number) => ({ requestId: requestNumber(number) }));

/** Puts an odd number at this place of the second request. */
function spoilSecond(place: number, odd: number): void {
  scripts.changeArgs((args) =>
    args.map((arg, index) => {
      if (!Buffer.isBuffer(arg) || args[index - 1] !== ORDERS[1]?.requestId) return arg;
      const spoiled = Buffer.from(arg);
      spoiled.writeDoubleLE(odd, 8 * place);
      return spoiled;
    }),
  );
}

async function expectOthersAdmitted(replies: readonly PromiseSettledResult<unknown>[]) {
  expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(Object.keys(await scripts.holds()).sort()).toEqual([requestNumber(1), requestNumber(3)]);
  expect(await scripts.account()).toMatchObject({ held: '200' });
  expect(await scripts.key()).toMatchObject({ in_flight: '2', [`held:${MONTH}`]: '200' });
}

describe('admit: a request of a run', () => {
  it.each(ODD_NUMBERS)('is refused alone when the script finds %d in it', async (odd) => {
    for (const place of [0, 1, 2]) {
      await scripts.send('del', redisKeys.holds);
      await scripts.setAccount({ held: 0 });
      await scripts.setKey({ in_flight: 0, [`held:${MONTH}`]: 0 });
      spoilSecond(place, odd);
      await expectOthersAdmitted(await Promise.allSettled(scripts.admitTurn(ORDERS)));
    }
    await expect(scripts.admit(ORDERS[1])).rejects.toThrow('amounts');
  });

  it.each(ODD_NUMBERS)('is not sent when it holds %d', async (odd) => {
    const orders = ORDERS.map((order, n) => (n === 1 ? { ...order, holdMicros: odd } : order));
    await expectOthersAdmitted(await Promise.allSettled(scripts.admitTurn(orders)));
  });

  it('is refused alone when nobody can read the hold that is there', async () => {
    await scripts.send('hset', redisKeys.holds, requestNumber(2), 'damaged|hold|-5|0');
    const replies = await Promise.allSettled(scripts.admitTurn(ORDERS));
    await scripts.send('hdel', redisKeys.holds, requestNumber(2));
    await expectOthersAdmitted(replies);
  });
});

describe('admit: a run that fails', () => {
  it.each([
    ['the list of leases', ['set', redisKeys.leases, 'x']],
    ['the marks of the minute', ['set', redisKeys.done(REQUEST), 'x']],
    ['the holds', ['set', redisKeys.holds, 'x']],
    ['the window of the key', ['hset', redisKeys.key(KEY), 'window', 'x']],
    ['the requests in flight', ['hset', redisKeys.key(KEY), 'in_flight', 'x']],
    ['the most at once', ['hset', redisKeys.key(KEY), 'in_flight_max', 'x']],
    ['what the account holds', ['hset', redisKeys.account(ACCOUNT), 'held', 'x']],
  ])('because of %s holds nothing and counts nothing', async (_, [command = '', ...args]) => {
    const before = Array.from({ length: 16 }, (_, n) => ({ requestId: requestNumber(100 + n) }));
    await scripts.setKey({ rpm: 500 });
    await scripts.setAccount({ balance: 1e6 });
    await Promise.all(scripts.admitTurn(before));
    await scripts.send(command, ...args);
    const records = [await scripts.account(), await scripts.key()];
    const replies = await Promise.allSettled(scripts.admitTurn(ORDERS));
    expect(replies.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect([await scripts.account(), await scripts.key()]).toEqual(records);
    const isHash = (await scripts.send('type', redisKeys.holds)) === 'hash';
    if (isHash) expect(Object.keys(await scripts.holds())).toHaveLength(16);
  });

  it('does not for a log that is none', async () => {
    const before = Array.from({ length: 40 }, (_, n) => ({ requestId: requestNumber(100 + n) }));
    await scripts.setKey({ rpm: 500 });
    await scripts.setAccount({ balance: 1e6 });
    await scripts.admitTogether(before);
    for (const id of [ACCOUNT, KEY]) await scripts.send('set', redisKeys.accountLog(id), 'x');
    await scripts.setKey({ rpm: 41 });
    const more = Array.from({ length: 16 }, (_, n) => ({ requestId: requestNumber(200 + n) }));
    const admitted = (await scripts.admitTogether(more)).filter(({ kind }) => kind === 'admitted');
    expect(await scripts.key()).toMatchObject({ in_flight: String(40 + admitted.length) });
    expect(await scripts.account()).toMatchObject({ held: String(100 * (40 + admitted.length)) });
    expect(Object.keys(await scripts.holds())).toHaveLength(40 + admitted.length);
  });
});
