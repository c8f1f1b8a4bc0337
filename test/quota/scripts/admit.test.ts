import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  DIGEST,
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
      creditsMicros: 1_000,
      extras: '',
      outputTokensRoom: Number.MAX_SAFE_INTEGER,
      nearLimits: [],
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

  it('is told beside what could be spent before it, of the balance or of the cap', async () => {
    await scripts.setAccount({ balance: 900, held: 50 });
    const tell = async (number: number) =>
      await scripts.admit({ requestId: requestNumber(number) });
    expect(await tell(1)).toMatchObject({ kind: 'admitted', creditsMicros: 900 });
    expect(await tell(1)).toMatchObject({ kind: 'admitted', creditsMicros: 900 });
    await scripts.setKey({ cap: 700, [`spent:${MONTH}`]: 100 });
    expect(await tell(2)).toMatchObject({ kind: 'admitted', creditsMicros: 600 });
    await scripts.setKey({ cap: 2_000 });
    expect(await tell(3)).toMatchObject({ kind: 'admitted', creditsMicros: 900 });
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
    [{ balance: -5 }, {}],
    [{ balance: 50, held: 60 }, {}],
    [{}, { cap: 10, [`spent:${MONTH}`]: 20 }],
  ])('is nothing, never less, where %j and %j leave no room', async (account, key) => {
    await scripts.setAccount(account);
    await scripts.setKey(key);
    expect(await scripts.admit({ holdMicros: 0, holdLeastMicros: 0 })).toMatchObject({
      kind: 'admitted',
      heldMicros: 0,
    });
    expect((await scripts.admit({ requestId: requestNumber(2) })).kind).not.toBe('admitted');
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

describe('admit: lists of limits', () => {
  it('refuse in a word of their own', async () => {
    const tokens = { input: 8, output: 0, outputLeast: 0, isOutputOpen: false };
    await scripts.setKey({ limits: '|1|i,60000,10,b;|' });
    expect(await scripts.admit()).toEqual({ kind: 'user_missing' });
    await scripts.setKey({ limits: '||i,60000,10,b;|i,60000,10,b;' });
    expect(await scripts.admit({ user: 'one', usersMax: 0 })).toEqual({ kind: 'users_full' });
    expect(await scripts.admit({ tokens: { ...tokens, input: 11 } })).toMatchObject({
      kind: 'too_large',
    });
    expect(await scripts.admit({ tokens })).toMatchObject({ kind: 'admitted' });
    const second = { requestId: requestNumber(2), tokens };
    expect(await scripts.admit(second)).toMatchObject({ kind: 'limit' });
  });
});

it('admit: asks whose request it is where a key counts by end user', async () => {
  await scripts.setKey({ limits: '|||t,d,10,b;' });
  expect(await scripts.admit({ user: '?' })).toEqual({ kind: 'name_user' });
});

describe('admit: what nobody can read', () => {
  it('is a hold that is there already and damaged', async () => {
    await scripts.send('hset', redisKeys.holds, REQUEST, 'damaged|hold|-5|0');
    await expect(scripts.admit()).rejects.toThrow('amounts');
  });
});
