import { describe, expect, it } from 'vitest';
import { describeKey } from '../../../src/quota/scripts/describing/describe-key.ts';
import {
  ACCOUNT,
  BUCKET,
  KEY,
  MONTH,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
  WINDOW_MS,
} from './open-scripts.ts';

const scripts = openScripts('describing/describe');
const GROUP = 'grp_03group';
const PLANS = { starter: 2, pro: 3, business: 4, team: 1_000 };

const ask = () =>
  describeKey(scripts.connection, {
    bucket: BUCKET,
    keyId: KEY,
    accountId: ACCOUNT,
    windowMs: WINDOW_MS,
    plans: PLANS,
  });

async function askTwice() {
  const first = await ask();
  expect(await ask()).toEqual(first);
  return first;
}

describe('describe', () => {
  it('tells of a key without limits that it has none, and the balance it draws on', async () => {
    expect(await askTwice()).toEqual({
      keyId: KEY,
      accountId: ACCOUNT,
      nowMs: NOW_MS,
      month: MONTH,
      windowMs: WINDOW_MS,
      keyRate: undefined,
      accountRate: { limit: 1_000, left: 1_000, resetMs: 0 },
      expiresMs: undefined,
      models: undefined,
      inFlight: 0,
      inFlightMax: undefined,
      capMicros: undefined,
      spentMicros: 0,
      heldMicros: 0,
      balanceMicros: 1_000,
      accountHeldMicros: 0,
      limits: [],
    });
  });

  it('tells every limit and what is left of it, and takes nothing', async () => {
    const expires = NOW_MS + 1_000_000;
    const limits = { rpm: 2, cap: 500, in_flight_max: 5, models: ',opus,llm-a,', expires };
    await scripts.setKey(limits);
    await scripts.setAccount({ plan: 'business' });
    await scripts.admit({ modelNames: ['llm-a'], requestId: requestNumber(2) });
    await scripts.setClock(NOW_MS + 10_000);
    await scripts.admit({ modelNames: ['llm-a'] });
    await scripts.settle(30);
    // Another key of the account has used the window too.
    await scripts.setAdmissions(NOW_MS, NOW_MS + 10_000, NOW_MS + 12_000);
    await scripts.setClock(NOW_MS + 15_000);
    expect(await askTwice()).toMatchObject({
      nowMs: NOW_MS + 15_000,
      keyRate: { limit: 2, left: 0, resetMs: 55_000 },
      accountRate: { limit: 4, left: 1, resetMs: 57_000 },
      expiresMs: expires,
      models: ['opus', 'llm-a'],
      inFlight: 1,
      inFlightMax: 5,
      capMicros: 500,
      spentMicros: 30,
      heldMicros: 100,
      balanceMicros: 970,
      accountHeldMicros: 100,
    });
  });

  it('counts what admission would count, to the millisecond', async () => {
    await scripts.setAccount({ plan: 'pro' });
    await scripts.admit({ holdMicros: 0 });
    await scripts.setClock(NOW_MS + 500);
    await scripts.admit({ holdMicros: 0, requestId: requestNumber(2) });
    for (const [atMs, left, resetMs] of [
      [59_999, 1, 501],
      [60_000, 2, 500],
      [60_499, 2, 1],
      [60_500, 3, 0],
    ] as const) {
      await scripts.setClock(NOW_MS + atMs);
      expect((await ask()).accountRate, `after ${atMs} ms`).toEqual({ limit: 3, left, resetMs });
    }
    expect(await scripts.admissions()).toHaveLength(2);
  });

  it('has nothing left below nothing where a limit was lowered', async () => {
    for (let i = 2; i < 5; i++) await scripts.admit({ holdMicros: 0, requestId: requestNumber(i) });
    await scripts.setAccount({ plan: 'starter' });
    expect((await ask()).accountRate).toMatchObject({ limit: 2, left: 0 });
  });

  it('lets a log say nothing that is from far ahead, and never a wait beyond the window', async () => {
    await scripts.admit({ holdMicros: 0 });
    await scripts.setClock(NOW_MS - 1_000);
    expect((await ask()).accountRate).toMatchObject({ left: 999, resetMs: WINDOW_MS });
    await scripts.setClock(NOW_MS - WINDOW_MS - 1);
    expect((await ask()).accountRate).toMatchObject({ left: 1_000, resetMs: 0 });
  });

  it('takes a plan that it does not know for the smallest', async () => {
    await scripts.setAccount({ plan: 'galactic' });
    expect((await ask()).accountRate.limit).toBe(2);
  });
});

describe('describe, with lists of limits', () => {
  it('tells what each has counted and holds, at every level but that of end users', async () => {
    await scripts.setKey({ limits: `${GROUP}|1|t,60000,100,b;|t,d,9,b;` });
    await scripts.send('hset', redisKeys.group(GROUP), 'limits', '||r,3600000,5,w;|');
    await scripts.setAccount({ limits: 'c,d,700,b;' });
    const order = { user: 'someone', usersMax: 5, holdMicros: 30 };
    const tokens = { input: 4, output: 3, outputLeast: 3, isOutputOpen: false };
    expect((await scripts.admit({ ...order, tokens })).kind).toBe('admitted');
    const { limits } = await askTwice();
    expect(limits).toMatchObject([
      { level: 'key', unit: 'tokens', window: 60_000, amount: 100, action: 'block', heldAmount: 7 },
      { level: 'group', unit: 'requests', action: 'warn', usedAmount: 0, heldAmount: 1 },
      { level: 'account', unit: 'credits', window: 'day', usedAmount: 0, heldAmount: 30 },
    ]);
  });

  it('tells of limits that nothing has counted in yet', async () => {
    await scripts.setKey({ limits: '||i,w,50,b;|' });
    expect((await askTwice()).limits).toMatchObject([
      { level: 'key', unit: 'input_tokens', window: 'week', usedAmount: 0, heldAmount: 0 },
    ]);
  });
});
