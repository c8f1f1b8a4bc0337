import { describe, expect, it } from 'vitest';
import type { AdmitOrder } from '../../../src/quota/scripts/admit.ts';
import { encodeLedgerUsage } from '../../../src/quota/settlement/settlement.ts';
import { DETAILS } from '../../support/request-details.ts';
import {
  ACCOUNT,
  KEY,
  LEASE_MS,
  NOW_MS,
  openScripts,
  REQUEST,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts();
const GROUP = 'grp_03group';
const MINUTE_MS = 60_000;
const SLICE_MS = 1_000;

const ask = (number: number, input: number, output = 0, more: Partial<AdmitOrder> = {}) =>
  scripts.admit({
    requestId: requestNumber(number),
    holdMicros: 0,
    tokens: { input, output, outputLeast: output, isOutputOpen: false },
    ...more,
  });
const setKeyList = (
  list: string,
  more: { group?: string; require?: string; template?: string } = {},
) =>
  scripts.setKey({
    limits: `${more.group ?? ''}|${more.require ?? ''}|${list}|${more.template ?? ''}`,
  });
const setGroup = (list: string, template = '') =>
  scripts.send('hset', redisKeys.group(GROUP), 'limits', `||${list}|${template}`);
const usageOf = (input: number, output: number) => {
  const nothing = { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, thinking: 0, searches: 0 };
  return encodeLedgerUsage({ input, output, ...nothing }, false, DETAILS);
};
const expectLimit = async (reply: ReturnType<typeof ask>, met: object) =>
  expect(await reply).toMatchObject({ kind: 'limit', ...met });

describe('a list of limits', () => {
  it('refuses what a window has no room for, and tells when there is room', async () => {
    await setKeyList('t,60000,100,b;');
    expect((await ask(1, 60, 10)).kind).toBe('admitted');
    await expectLimit(ask(2, 31), {
      ...{ level: 'key', unit: 'tokens', window: MINUTE_MS, amount: 100 },
      ...{ countedAmount: 70, heldAmount: 70, waitMs: MINUTE_MS + SLICE_MS },
    });
    expect((await ask(3, 30)).kind).toBe('admitted');
  });

  it('refuses a request that is larger than the limit, without a wait', async () => {
    await setKeyList('i,60000,100,b;');
    expect(await ask(1, 101)).toMatchObject({
      ...{ kind: 'too_large', level: 'key', unit: 'input_tokens', needed: 101, amount: 100 },
    });
    expect(await scripts.holds()).toEqual({});
  });

  it('of a plan and of an account count together: the lower amount holds', async () => {
    const plans = { team: { requests: 1_000, list: 't,60000,100,b;' } };
    await scripts.setAccount({ limits: 't,60000,40,b;' });
    await expectLimit(
      ask(1, 30, 0, { plans }).then(() => ask(2, 11, 0, { plans })),
      { level: 'account', amount: 40 },
    );
    await scripts.setAccount({ limits: 't,60000,400,b;' });
    await expectLimit(ask(3, 71, 0, { plans }), {
      level: 'account',
      amount: 100,
      countedAmount: 30,
    });
  });

  it('of an account has its own requests per window beside those of its plan', async () => {
    await scripts.setAccount({ limits: 'r,60000,1,b;' });
    expect((await ask(1, 0)).kind).toBe('admitted');
    await expectLimit(ask(2, 0), { level: 'account', unit: 'requests', waitMs: MINUTE_MS });
  });

  it('that only warns counts and refuses nothing', async () => {
    await setKeyList('t,60000,10,w;r,60000,1,w;');
    for (let number = 1; number <= 3; number++)
      expect((await ask(number, 50)).kind).toBe('admitted');
  });

  it('keeps what it has counted when it is changed, and forgets what is taken off', async () => {
    await setKeyList('t,60000,100,b;i,d,1000,b;');
    await ask(1, 90);
    await setKeyList('i,d,95,b;c,d,7,b;');
    await expectLimit(ask(2, 6), { unit: 'input_tokens', window: 'day', countedAmount: 90 });
    expect((await ask(4, 5)).kind).toBe('admitted');
    await setKeyList('t,60000,100,b;');
    expect((await ask(3, 100)).kind).toBe('admitted');
  });

  it('holds an output that may be shorter as far as there is room', async () => {
    await setKeyList('t,60000,100,b;o,60000,80,b;');
    const tokens = { input: 50, output: 500, outputLeast: 10, isOutputOpen: false };
    expect(await ask(1, 0, 0, { tokens })).toMatchObject({
      kind: 'admitted',
      outputTokensRoom: 50,
    });
    await expectLimit(ask(2, 1), { unit: 'tokens', countedAmount: 100 });
  });

  it('lets an output that is held in part become longer, and counts all of it', async () => {
    await setKeyList('o,60000,100,b;');
    const tokens = { input: 0, output: 50, outputLeast: 50, isOutputOpen: true };
    const reply = await ask(1, 0, 0, { tokens });
    if (reply.kind !== 'admitted') throw new Error(reply.kind);
    await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(0, 300) });
    await expectLimit(ask(2, 0, 1), { unit: 'output_tokens', countedAmount: 300, heldAmount: 0 });
  });

  it('holds credits as far as there is room, and charges no more than that', async () => {
    await scripts.setAccount({ limits: 'c,d,150,b;' });
    expect(await ask(1, 0, 0, { holdMicros: 100, holdLeastMicros: 100 })).toMatchObject({
      heldMicros: 100,
    });
    expect(await ask(2, 0, 0, { holdMicros: 100, holdLeastMicros: 10 })).toMatchObject({
      heldMicros: 50,
    });
    const charged = await scripts.settle(400, { requestId: requestNumber(1) });
    expect(charged).toMatchObject({ chargedMicros: 100, shortMicros: 300 });
    await expectLimit(ask(3, 0, 0, { holdMicros: 1 }), {
      level: 'account',
      unit: 'credits',
      window: 'day',
      countedAmount: 150,
    });
  });

  it('is corrected in the windows of the admission, whatever the time is by then', async () => {
    await setKeyList('t,10000,100,b;t,d,1000,b;');
    await ask(1, 100);
    await scripts.setClock(NOW_MS + 8_000);
    await expectLimit(ask(2, 100), { window: 10_000 });
    await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(20, 0) });
    expect((await ask(3, 80)).kind).toBe('admitted');
    // The first request has left the short window; what it used does not come back to it.
    await scripts.setClock(NOW_MS + 10_500);
    expect((await ask(4, 20)).kind).toBe('admitted');
    await expectLimit(ask(5, 1), { window: 10_000, countedAmount: 100 });
  });
});

describe('levels', () => {
  it('are the key, its group and the account, and each of them holds', async () => {
    await setGroup('i,60000,50,b;');
    await setKeyList('i,60000,100,b;', { group: GROUP });
    await scripts.setAccount({ limits: 'i,60000,60,b;' });
    await ask(1, 30);
    await expectLimit(ask(2, 21), { level: 'group', amount: 50 });
    // Another key of the account is in no group.
    await scripts.send(
      'hset',
      redisKeys.key('03other'),
      'status',
      'active',
      'account',
      ACCOUNT,
      'digest',
      'other',
    );
    const other = { keyId: '03other', digest: 'other' };
    await expectLimit(ask(3, 31, 0, other), { level: 'account', amount: 60, countedAmount: 30 });
  });

  it('are told in one order where the waits are equal', async () => {
    await setGroup('t,60000,10,b;', 't,60000,10,b;');
    await setKeyList('t,60000,10,b;', { group: GROUP });
    await scripts.setAccount({ limits: 't,60000,10,b;' });
    const user = { user: 'digest-of-a-user', usersMax: 5 };
    await ask(1, 10, 0, user);
    await expectLimit(ask(2, 1, 0, user), { level: 'key' });
  });
});

describe('end users', () => {
  const of = (user: string, usersMax = 5) => ({ user, usersMax });

  it('have each the limits of the template, that of the key before that of the group', async () => {
    await setGroup('', 'i,60000,5,b;');
    await setKeyList('', { group: GROUP, template: 'i,60000,10,b;' });
    await ask(1, 10, 0, of('one'));
    await expectLimit(ask(2, 1, 0, of('one')), { level: 'user', amount: 10 });
    expect((await ask(3, 10, 0, of('two'))).kind).toBe('admitted');
    await setKeyList('', { group: GROUP });
    await ask(4, 5, 0, of('one'));
    await expectLimit(ask(5, 1, 0, of('one')), { level: 'user', amount: 5, countedAmount: 5 });
  });

  it('are no more than the account may have, until one is forgotten', async () => {
    await setKeyList('', { template: 'i,60000,10,b;' });
    await ask(1, 1, 0, of('one', 1));
    expect(await ask(2, 1, 0, of('two', 1))).toEqual({ kind: 'users' });
    expect((await ask(3, 1, 0, of('one', 1))).kind).toBe('admitted');
    await scripts.setClock(NOW_MS + MINUTE_MS + 3 * SLICE_MS);
    await scripts.send('del', redisKeys.user(`${KEY}:one`));
    expect((await ask(4, 1, 0, of('two', 1))).kind).toBe('admitted');
    expect(await scripts.send('zrange', redisKeys.usersOf(ACCOUNT), 0, -1)).toEqual([`${KEY}:two`]);
  });

  it('are forgotten by Redis when nothing of them counts any more', async () => {
    await setKeyList('', { template: 'i,60000,10,b;' });
    await ask(1, 1, 0, of('one'));
    const left = Number(await scripts.send('pttl', redisKeys.user(`${KEY}:one`)));
    expect(left).toBeGreaterThan(MINUTE_MS);
    expect(left).toBeLessThanOrEqual(MINUTE_MS + 2 * SLICE_MS);
  });

  it('must be named where the key or its group says so', async () => {
    await setGroup('');
    await setKeyList('', { group: GROUP, require: '1', template: 'i,60000,10,b;' });
    expect(await ask(1, 1)).toEqual({ kind: 'user' });
    expect((await ask(2, 1, 0, of('one'))).kind).toBe('admitted');
  });
});

describe('a request that ends in another way', () => {
  it('counts the tokens that it held when its lease runs out, and is corrected when it settles late', async () => {
    await setKeyList('t,3600000,100,b;');
    const reply = await ask(1, 60);
    if (reply.kind !== 'admitted') throw new Error(reply.kind);
    await scripts.setClock(NOW_MS + LEASE_MS + 1);
    await scripts.sweep();
    await expectLimit(ask(2, 50), { countedAmount: 60, heldAmount: 0 });
    const { extras } = reply;
    await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(10, 0), extras });
    await expectLimit(ask(3, 91), { countedAmount: 10 });
  });

  it('counts in full when its hold was lost', async () => {
    await setKeyList('t,3600000,100,b;');
    await ask(1, 1);
    const extras = `${NOW_MS},,,60,0,0`;
    const lost = { requestId: requestNumber(50), usage: usageOf(40, 10), extras };
    expect(await scripts.settle(0, lost)).toMatchObject({ kind: 'orphan' });
    await expectLimit(ask(2, 50), { countedAmount: 51, heldAmount: 1 });
  });

  it('takes its room again when a renewal makes the hold anew, as far as there is some', async () => {
    await setKeyList('t,3600000,100,b;');
    await ask(1, 70);
    const extras = `${NOW_MS},,,60,0,0`;
    const lost = { requestId: requestNumber(50), extras };
    expect(await scripts.renew(0, { ...lost, heldMicros: 0 })).toBe('active');
    await expectLimit(ask(2, 1), { countedAmount: 100, heldAmount: 100 });
    await scripts.settle(0, { ...lost, usage: usageOf(5, 0) });
    await expectLimit(ask(3, 26), { countedAmount: 75, heldAmount: 70 });
  });

  it('keeps what it counts while it is renewed', async () => {
    await setKeyList('t,3600000,100,b;');
    await ask(1, 70, 0, { requestId: REQUEST });
    expect(await scripts.renew(0)).toBe('active');
    await scripts.settle(0, { usage: usageOf(5, 0) });
    await expectLimit(ask(2, 96), { countedAmount: 5, heldAmount: 0 });
  });

  it('is admitted once, and a repeated call gets the same reply', async () => {
    await setKeyList('t,3600000,100,b;');
    const first = await ask(1, 70);
    expect(await ask(1, 70)).toMatchObject({
      kind: 'admitted',
      extras: first.kind === 'admitted' && first.extras,
    });
    await expectLimit(ask(2, 31), { countedAmount: 70 });
  });
});

describe('an end user that a call leaves out', () => {
  it('is asked for by a key that counts by end user alone', async () => {
    const told = { user: '?', usersMax: 5 };
    expect((await ask(1, 1, 0, told)).kind).toBe('admitted');
    await setKeyList('', { template: 't,d,10,b;' });
    expect(await ask(2, 1, 0, told)).toEqual({ kind: 'name_user' });
    expect((await ask(2, 1, 0, { ...told, user: 'ada' })).kind).toBe('admitted');
    await setKeyList('t,d,10,b;', { require: '1' });
    expect((await ask(3, 1, 0, told)).kind).toBe('admitted');
    expect(await ask(4, 1)).toEqual({ kind: 'user' });
  });
});

it('an output that is held in part has any room', async () => {
  await setKeyList('o,d,30,b;');
  const tokens = { input: 1, output: 10, outputLeast: 10, isOutputOpen: true };
  const room = { outputTokensRoom: Number.MAX_SAFE_INTEGER };
  expect(await ask(1, 1, 0, { tokens })).toMatchObject(room);
  expect(await ask(2, 1, 10)).toMatchObject({ outputTokensRoom: 10 });
});
