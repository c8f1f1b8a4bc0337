import { describe, expect, it } from 'vitest';
import { GROUP, openLists, usageOf } from './list-scene.ts';
import { NOW_MS, requestNumber } from './open-scripts.ts';

const { scripts, ask, setKeyList, setGroup, expectLimit } = openLists();
const DAY_MS = 86_400_000;
const TOMORROW_MS = NOW_MS + DAY_MS;

/** Of a request that held 60 tokens, and of whose admission a failover left nothing. */
const lostAt = (ms: number, group = '') => ({
  requestId: requestNumber(50),
  extras: `${ms},${group},,60,0,0`,
});
const settle = (ms: number, group = '') =>
  scripts.settle(0, { ...lostAt(ms, group), usage: usageOf(40, 10), lastKnownMs: ms });
const renew = (ms: number, group = '') =>
  scripts.renew(0, { ...lostAt(ms, group), heldMicros: 0, lastKnownMs: ms });

describe.each(['t,d,100,b;', 't,m,100,b;', 't,3600000,100,b;'])('the list %s', (list) => {
  const LATER_MS = list.includes('m') ? NOW_MS + 31 * DAY_MS : TOMORROW_MS;

  it('counts a request that was the first of its period and was lost', async () => {
    await setKeyList(list);
    await ask(1, 1);
    await scripts.setClock(LATER_MS);
    expect(await settle(LATER_MS)).toMatchObject({ kind: 'orphan' });
    await expectLimit(ask(2, 51), { countedAmount: 50 });
  });

  it('holds for it when a renewal makes its hold anew, and no more than it has room for', async () => {
    await setKeyList(list);
    await ask(1, 1);
    await scripts.setClock(LATER_MS);
    expect(await renew(LATER_MS)).toBe('active');
    await expectLimit(ask(2, 41), { countedAmount: 60, heldAmount: 60 });
    await settle(LATER_MS);
    await expectLimit(ask(3, 51), { countedAmount: 50 });
  });

  it('holds no more for it than the list allows, so that its end corrects what it holds', async () => {
    await setKeyList(list);
    await ask(1, 1);
    await scripts.setClock(LATER_MS);
    const large = { ...lostAt(LATER_MS), extras: `${LATER_MS},,,160,0,0` };
    expect(await scripts.renew(0, { ...large, heldMicros: 0, lastKnownMs: LATER_MS })).toBe(
      'active',
    );
    await scripts.settle(0, { ...large, usage: usageOf(40, 10), lastKnownMs: LATER_MS });
    await expectLimit(ask(2, 51), { countedAmount: 50 });
  });

  it('counts it when nothing of the list was counted before', async () => {
    await setKeyList(list);
    expect(await settle(NOW_MS)).toMatchObject({ kind: 'orphan' });
    await expectLimit(ask(2, 51), { countedAmount: 50, heldAmount: 0 });
  });

  it('of a group and of an account counts it as well', async () => {
    await setGroup(list);
    await setKeyList('', { group: GROUP });
    await scripts.setAccount({ limits: list.replace('100', '90') });
    expect(await renew(NOW_MS, GROUP)).toBe('active');
    await expectLimit(ask(2, 35), { level: 'account', countedAmount: 60, heldAmount: 60 });
    await scripts.setAccount({ limits: '' });
    await expectLimit(ask(2, 41), { level: 'group', countedAmount: 60, heldAmount: 60 });
  });
});

it('a request of a period that has ended moves no limit back to it', async () => {
  await setKeyList('t,d,100,b;');
  await ask(1, 1);
  await scripts.setClock(TOMORROW_MS);
  await ask(2, 5);
  const ofYesterday = { ...lostAt(TOMORROW_MS - DAY_MS), lastKnownMs: TOMORROW_MS };
  const settled = await scripts.settle(0, { ...ofYesterday, usage: usageOf(40, 10) });
  expect(settled).toMatchObject({ kind: 'orphan' });
  await expectLimit(ask(3, 96), { countedAmount: 5, heldAmount: 5 });
});
