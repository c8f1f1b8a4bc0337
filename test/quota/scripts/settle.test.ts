import { describe, expect, it } from 'vitest';
import {
  KEY,
  MODEL,
  MONTH,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts('settle');
const HOUR_MS = 3_600_000;
/** Marks live for at least two hours. Five minutes of that allow for clocks that differ. */
const AGE_MAX_MS = 6_900_000;

/** Settles after an admission of 100. */
const settleHeld = async (actual: number) => {
  await scripts.admit();
  return scripts.settle(actual);
};
const expire = async () => {
  await scripts.setClock(NOW_MS + HOUR_MS);
  await scripts.sweep();
};

describe('settle', () => {
  it.each([
    [1, 1],
    [99, 99],
    [100, 100],
  ])('charges %i of 100 held', async (actual, charged) => {
    expect(await settleHeld(actual)).toEqual({
      kind: 'charge',
      chargedMicros: charged,
      shortMicros: 0,
      balanceMicros: 1_000 - charged,
    });
    expect(await scripts.account()).toMatchObject({ balance: `${1_000 - charged}`, held: '0' });
    const key = await scripts.key();
    expect(key).toMatchObject({ [`spent:${MONTH}`]: `${charged}`, in_flight: '0' });
    expect(key).not.toHaveProperty(`held:${MONTH}`);
    expect(await scripts.holds()).toEqual({});
    expect(await scripts.leaseEnd()).toBe(0);
    expect(await scripts.ledger()).toEqual([
      `charge it ${MONTH} 100 ${charged} 0 ${1_000 - charged}`,
    ]);
  });

  it('releases what cost nothing', async () => {
    expect(await settleHeld(0)).toEqual({
      kind: 'release',
      chargedMicros: 0,
      shortMicros: 0,
      balanceMicros: 1_000,
    });
    expect(await scripts.account()).toMatchObject({ balance: '1000', held: '0' });
    expect(await scripts.ledger()).toEqual([`release it ${MONTH} 100 0 0 1000`]);
  });

  it.each([
    ['as far as the balance has room', { balance: 180, held: 30 }, {}, 150, 50],
    [
      'as far as the cap has room',
      {},
      { cap: 170, [`spent:${MONTH}`]: 10, [`held:${MONTH}`]: 20 },
      140,
      60,
    ],
    ['in full when there is room', {}, { cap: 200 }, 200, 0],
    ['only what was held, when the cap was lowered', {}, { cap: 5 }, 100, 100],
    ['only what was held, after a chargeback', { balance: -40 }, {}, 100, 100],
  ])('charges an overrun %s', async (_, account, key, chargedMicros, shortMicros) => {
    await scripts.admit();
    const held = 'held' in account ? account.held + 100 : 100;
    await scripts.setAccount({ ...account, held });
    const keyHeld = key[`held:${MONTH}` as keyof typeof key];
    await scripts.setKey({
      ...key,
      ...(keyHeld === undefined ? {} : { [`held:${MONTH}`]: keyHeld + 100 }),
    });
    expect(await scripts.settle(200)).toMatchObject({ kind: 'charge', chargedMicros, shortMicros });
  });

  it('takes effect once, and says then what it charged', async () => {
    await settleHeld(60);
    expect(await scripts.settle(60)).toEqual({ kind: 'repeated', chargedMicros: 60 });
    expect(await scripts.settle(90)).toEqual({ kind: 'repeated', chargedMicros: 60 });
    expect(await scripts.account()).toMatchObject({ balance: '940' });
    expect(await scripts.ledger()).toHaveLength(1);
  });

  it.each([
    [70, 30, 40, 0],
    [30, 30, 0, 0],
    [10, 30, -20, 0],
    [2_000, 30, 970, 1_000],
  ])('late adds the difference: %i after %i', async (actual, seen, charged, short) => {
    await scripts.admit();
    await scripts.renew(seen);
    await expire();
    const balance = 1_000 - seen - charged;
    expect(await scripts.settle(actual)).toEqual({
      kind: 'late',
      chargedMicros: charged,
      shortMicros: short,
      balanceMicros: balance,
    });
    expect(await scripts.ledger()).toEqual([
      `expired it ${MONTH} 100 ${seen} 0 ${1_000 - seen}`,
      `late it ${MONTH} 0 ${charged} ${short} ${balance}`,
    ]);
    expect(await scripts.settle(actual)).toEqual({
      kind: 'repeated',
      chargedMicros: seen + charged,
    });
    expect(await scripts.account()).toMatchObject({ balance: `${balance}`, held: '0' });
  });

  it('late charges no more than the cap then has room for', async () => {
    await scripts.setKey({ cap: 120 });
    await scripts.admit();
    await scripts.renew(30);
    await expire();
    await scripts.admit({ requestId: requestNumber(2), holdMicros: 50 });
    expect(await scripts.settle(200)).toMatchObject({
      kind: 'late',
      chargedMicros: 40,
      shortMicros: 130,
    });
  });

  it('charges a request whose hold a failover lost', async () => {
    expect(await scripts.settle(60)).toEqual({
      kind: 'orphan',
      chargedMicros: 60,
      shortMicros: 0,
      balanceMicros: 940,
    });
    expect(await scripts.key()).toMatchObject({ [`spent:${MONTH}`]: '60' });
    expect(await scripts.settle(60)).toEqual({ kind: 'repeated', chargedMicros: 60 });
    expect(await scripts.ledger()).toEqual([`orphan it ${MONTH} 0 60 0 940`]);
  });

  it('counts the requests in flight without one whose hold is lost', async () => {
    await scripts.setKey({ in_flight: 2 });
    await scripts.settle(60);
    expect(await scripts.key()).toMatchObject({ in_flight: '2' });
  });

  it('charges a lost request as far as there is room', async () => {
    await scripts.setAccount({ held: 970 });
    expect(await scripts.settle(60)).toMatchObject({ chargedMicros: 30, shortMicros: 30 });
    await scripts.setAccount({ balance: -10, held: 0 });
    const other = { requestId: requestNumber(2) };
    expect(await scripts.settle(60, other)).toMatchObject({ chargedMicros: 0, shortMicros: 60 });
  });

  it('takes no request whose mark may be gone', async () => {
    await scripts.setClock(NOW_MS + AGE_MAX_MS);
    expect(await scripts.settle(60)).toMatchObject({ kind: 'orphan' });
    await scripts.setClock(NOW_MS + AGE_MAX_MS + 1);
    const other = { requestId: requestNumber(2) };
    expect(await scripts.settle(60, other)).toEqual({ kind: 'too_old' });
    expect(await scripts.account()).toMatchObject({ balance: '940' });
  });

  it('keeps its mark for two hours at least, and three at most', async () => {
    await scripts.settle(60);
    const mark = redisKeys.done(requestNumber(1));
    const left = () => scripts.send('ttl', mark).then(Number);
    expect(await left()).toBeGreaterThan(7_200);
    expect(await left()).toBeLessThanOrEqual(10_800);
    await scripts.send('expire', mark, 7_000);
    await scripts.settle(60, { requestId: requestNumber(2) });
    expect(await left()).toBeGreaterThan(10_000);
  });

  it('leaves nothing of a request that was renewed', async () => {
    await scripts.admit();
    await scripts.renew(30);
    expect(await scripts.settle(60)).toMatchObject({ kind: 'charge', chargedMicros: 60 });
    expect(await scripts.send('exists', redisKeys.holds, redisKeys.renewals)).toBe(0);
  });

  it('charges the month of the admission, whenever it comes', async () => {
    await scripts.setClock(Date.UTC(2026, 10, 30, 23, 59, 59, 999));
    await scripts.admit();
    await scripts.setClock(Date.UTC(2026, 11, 1));
    await scripts.settle(60, { lastKnownMs: Date.UTC(2026, 11, 1) });
    const key = await scripts.key();
    expect(key).toMatchObject({ 'spent:202611': '60' });
    expect(key).not.toHaveProperty('spent:202612');
  });

  it.each([
    [8e15, 123_456_789_012_345],
    [8e15, 7_999_999_999_999_999],
    [9_007_199_254_740_991, 9_007_199_254_740_990],
    [1e14, 99_999_999_999_999],
    [1e15, 1e14],
  ])('is exact to the last micro: %i of %i', async (balance, amount) => {
    await scripts.setAccount({ balance: balance.toFixed(0) });
    await scripts.setKey({ cap: balance.toFixed(0) });
    expect(await scripts.admit({ holdMicros: amount })).toMatchObject({ heldMicros: amount });
    expect(await scripts.account()).toMatchObject({ held: amount.toFixed(0) });
    await scripts.renew(amount, { heldMicros: amount });
    expect((await scripts.holds())[requestNumber(1)]).toMatch(
      new RegExp(`\\|${amount.toFixed(0)}\\|${amount.toFixed(0)}$`),
    );
    expect(await scripts.settle(amount)).toMatchObject({
      chargedMicros: amount,
      balanceMicros: balance - amount,
    });
    expect(await scripts.account()).toMatchObject({ balance: (balance - amount).toFixed(0) });
    expect(await scripts.key()).toMatchObject({ [`spent:${MONTH}`]: amount.toFixed(0) });
    expect(await scripts.ledger()).toEqual([
      `charge it ${MONTH} ${amount.toFixed(0)} ${amount.toFixed(0)} 0 ${(balance - amount).toFixed(0)}`,
    ]);
    expect(await scripts.settle(amount)).toEqual({ kind: 'repeated', chargedMicros: amount });
  });

  it('keeps what was used, byte for byte', async () => {
    const usage = Buffer.from([0x98, 1, 0, 255, 10, 13]);
    await scripts.settle(60, { usage });
    const bytes = await scripts.send('xrange', redisKeys.ledger, '-', '+');
    expect(JSON.stringify(bytes)).toContain('usage');
    const stored = await scripts.send(
      'eval',
      `return redis.sha1hex(redis.call('XRANGE', KEYS[1], '-', '+')[1][2][4])`,
      1,
      redisKeys.ledger,
    );
    const { createHash } = await import('node:crypto');
    expect(stored).toBe(createHash('sha1').update(usage).digest('hex'));
    expect(JSON.stringify(bytes)).toContain(KEY);
    expect(JSON.stringify(bytes)).toContain(MODEL);
  });
});

const ODD_NUMBERS = ['-1', '0.5', '9007199254740992', '1e300', 'nan', 'inf', '-inf', 'none', ''];
const SETTLED = [1, 2, 3].map((number) => ({ requestId: requestNumber(number) }));

/** Spoils the argument that follows the id of the second request by `place` places. */
function spoilSecond(place: number, odd: string): void {
  scripts.changeArgs((args) =>
    args.map((arg, index) => (args[index - place] === SETTLED[1]?.requestId ? odd : arg)),
  );
}

describe('settle: a request of a run', () => {
  it.each(ODD_NUMBERS)('is refused alone when the script finds that it costs "%s"', async (odd) => {
    await scripts.admitTogether(SETTLED);
    spoilSecond(1, odd);
    const replies = await Promise.allSettled(scripts.settleTurn(SETTLED));
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(scripts.settle(5, SETTLED[1])).rejects.toThrow('amounts');
    expect(await scripts.account()).toMatchObject({ balance: '800', held: '100' });
    expect(await scripts.key()).toMatchObject({ in_flight: '1', [`held:${MONTH}`]: '100' });
    expect(await scripts.ledger()).toHaveLength(2);
  });

  it.each(ODD_NUMBERS)('is refused alone when its time is "%s" and counts', async (odd) => {
    spoilSecond(2, odd);
    const replies = await Promise.allSettled(scripts.settleTurn(SETTLED));
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(scripts.settle(5, SETTLED[1])).rejects.toThrow('amounts');
    expect(await scripts.ledger()).toHaveLength(2);
  });

  it.each([-1, 0.5, 2 ** 53, Number.NaN, 1 / 0])('is not sent when it costs %d', async (odd) => {
    await scripts.admitTogether(SETTLED);
    const settled = SETTLED.map((request, n) =>
      n === 1 ? { ...request, actualMicros: odd } : request,
    );
    const replies = await Promise.allSettled(scripts.settleTurn(settled));
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await scripts.account()).toMatchObject({ balance: '800', held: '100' });
  });

  it('is charged like a lost one when nobody can read its hold, which is gone then', async () => {
    await scripts.admitTogether(SETTLED);
    await scripts.send('hset', redisKeys.holds, requestNumber(2), 'damaged|hold|-5|0');
    const replies = await scripts.settleTogether(SETTLED);
    expect(replies.map(({ kind }) => kind)).toEqual(['charge', 'orphan', 'charge']);
    expect(await scripts.holds()).toEqual({});
    expect(await scripts.account()).toMatchObject({ balance: '700', held: '100' });
  });
});
