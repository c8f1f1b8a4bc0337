import { describe, expect, it } from 'vitest';
import { openLists, usageOf } from './list-scene.ts';
import { LEASE_MS, NOW_MS, REQUEST, requestNumber } from './open-scripts.ts';

const { scripts, ask, setKeyList, expectLimit } = openLists();
const MINUTE_MS = 60_000;
const SLICE_MS = 1_000;

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

  it.each([
    { from: 'c,m,100,w;', to: 'c,m,100,b;', unit: 'credits', held: 90 },
    { from: 't,60000,100,w;', to: 't,60000,100,b;', unit: 'tokens', held: 0 },
    { from: 'r,d,1,w;', to: 'r,d,1,b;', unit: 'requests', held: 0 },
  ])('goes on with what it counted when $from becomes $to', async ({ from, to, unit, held }) => {
    await setKeyList(from);
    await ask(1, 90, 0, { holdMicros: held });
    await setKeyList(to);
    const refused = { unit, countedAmount: unit === 'requests' ? 1 : 90 };
    await expectLimit(ask(2, 11, 0, { holdMicros: held }), refused);
    await setKeyList(from);
    expect((await ask(3, 11, 0, { holdMicros: held })).kind).toBe('admitted');
    await setKeyList(to);
    await expectLimit(ask(4, 1, 0, { holdMicros: 1 }), { unit });
  });

  it.each(['i,d,150,b;', 'i,3600000,150,b;'])(
    'of %s that is new takes nothing off for requests that were admitted before',
    async (list) => {
      await setKeyList('i,d,1000,b;');
      for (const number of [1, 2]) await ask(number, 100);
      await scripts.setClock(NOW_MS + 5);
      await scripts.setAccount({ limits: list });
      await ask(3, 60);
      await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(10, 0) });
      await scripts.settle(0, { requestId: requestNumber(2), usage: usageOf(500, 0) });
      await expectLimit(ask(4, 91), { level: 'account', countedAmount: 60, heldAmount: 60 });
      await scripts.settle(0, { requestId: requestNumber(3), usage: usageOf(50, 0) });
      await expectLimit(ask(5, 101), { level: 'account', countedAmount: 50, heldAmount: 0 });
    },
  );

  it('takes what is known of each, where one that warns and one that blocks were beside each other', async () => {
    const plans = { team: { requests: 1_000, list: 't,d,50,w;' } };
    await scripts.setAccount({ limits: 't,d,100,b;' });
    await ask(1, 60, 0, { plans });
    await scripts.setAccount({ limits: 't,d,90,b;' });
    await expectLimit(ask(2, 31, 0, { plans }), { countedAmount: 60, amount: 90 });
    expect((await ask(3, 30, 0, { plans })).kind).toBe('admitted');
  });

  it('holds an output that may be shorter as far as there is room', async () => {
    await setKeyList('t,60000,100,b;o,60000,80,b;');
    const tokens = { input: 50, output: 500, outputLeast: 10, isOutputOpen: false };
    const admitted = { kind: 'admitted', outputTokensRoom: 50 };
    expect(await ask(1, 0, 0, { tokens })).toMatchObject(admitted);
    expect(await ask(1, 0, 0, { tokens }), 'again').toMatchObject(admitted);
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

  it('that refuses tells when nothing of it will count any more', async () => {
    await setKeyList('t,60000,100,b;');
    await ask(1, 50);
    await scripts.setClock(NOW_MS + 20_000);
    await ask(2, 40);
    const waitMs = MINUTE_MS + SLICE_MS - 20_000;
    await expectLimit(ask(3, 30), { waitMs, resetMs: MINUTE_MS + SLICE_MS });
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

  it('is charged as far as there is room when it settles late, and in full when its window is over', async () => {
    await setKeyList('c,60000,100,b;');
    for (const number of [1, 2]) {
      expect(await ask(number, 0, 0, { holdMicros: 50 })).toMatchObject({ heldMicros: 50 });
    }
    await scripts.setClock(NOW_MS + LEASE_MS + 1);
    await scripts.sweep();
    expect((await ask(3, 0, 0, { holdMicros: 80 })).kind).toBe('admitted');
    const late = (number: number) => ({
      ...{ requestId: requestNumber(number), extras: `${NOW_MS},,,0,0,0` },
      lastKnownMs: NOW_MS + LEASE_MS,
    });
    expect(await scripts.settle(50, late(1))).toMatchObject({ chargedMicros: 20, shortMicros: 30 });
    await scripts.setClock(NOW_MS + MINUTE_MS + SLICE_MS);
    expect(await scripts.settle(50, late(2))).toMatchObject({ chargedMicros: 50, shortMicros: 0 });
    await expectLimit(ask(4, 0, 0, { holdMicros: 21 }), { countedAmount: 80 });
  });

  it.each([
    { cap: 900, chargedMicros: 150, shortMicros: 0 },
    { cap: 120, chargedMicros: 110, shortMicros: 40 },
  ])(
    'is charged in full after its day, but no more than a cap of $cap, and counts in no day',
    async ({ cap, ...charged }) => {
      await scripts.setAccount({ limits: 'c,d,100,b;' });
      await scripts.setKey({ cap });
      await ask(1, 0, 0, { holdMicros: 100 });
      await scripts.setClock(NOW_MS + 24 * 60 * MINUTE_MS);
      await ask(2, 0, 0, { holdMicros: 10 });
      expect(await scripts.settle(150, { requestId: requestNumber(1) })).toMatchObject(charged);
      await expectLimit(ask(3, 0, 0, { holdMicros: 91, holdLeastMicros: 91 }), {
        ...{ window: 'day', countedAmount: 10, heldAmount: 10 },
      });
    },
  );

  it('counts in full when its hold was lost', async () => {
    await setKeyList('t,3600000,100,b;');
    await ask(1, 1);
    const extras = `${NOW_MS},,,60,0,0`;
    const lost = { requestId: requestNumber(50), usage: usageOf(40, 10), extras };
    expect(await scripts.settle(0, lost)).toMatchObject({ kind: 'orphan' });
    await expectLimit(ask(2, 50), { countedAmount: 51, heldAmount: 1 });
  });

  it('counts as a request when its hold was lost', async () => {
    await setKeyList('r,d,2,b;');
    await ask(1, 0);
    const lost = { requestId: requestNumber(50), extras: `${NOW_MS},,,0,0,0` };
    expect(await scripts.settle(0, lost)).toMatchObject({ kind: 'orphan' });
    await expectLimit(ask(2, 0), { unit: 'requests', countedAmount: 2, heldAmount: 1 });
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

it('an output that is held in part has any room', async () => {
  await setKeyList('o,d,30,b;');
  const tokens = { input: 1, output: 10, outputLeast: 10, isOutputOpen: true };
  const room = { outputTokensRoom: Number.MAX_SAFE_INTEGER };
  expect(await ask(1, 1, 0, { tokens })).toMatchObject(room);
  expect(await ask(2, 1, 10)).toMatchObject({ outputTokensRoom: 10 });
});

describe('a clock that goes back a little', () => {
  const BACK_MS = 30_000;
  const fill = async () => {
    await setKeyList('t,60000,100,b;');
    expect((await ask(1, 60)).kind).toBe('admitted');
    await scripts.setClock(NOW_MS - BACK_MS);
  };

  it('takes no admission out of its window', async () => {
    await fill();
    expect((await ask(2, 40)).kind).toBe('admitted');
    await scripts.setClock(NOW_MS + MINUTE_MS - 1);
    await expectLimit(ask(3, 1), { countedAmount: 100, waitMs: SLICE_MS + 1 });
  });

  it('takes no admission out of its window when one is settled with more than it held', async () => {
    await fill();
    await scripts.settle(0, { requestId: requestNumber(1), usage: usageOf(70, 0) });
    await scripts.setClock(NOW_MS + MINUTE_MS - 1);
    await expectLimit(ask(3, 31), { countedAmount: 70, waitMs: SLICE_MS + 1 });
  });
});
