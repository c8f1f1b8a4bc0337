import { describe, expect, it } from 'vitest';
import {
  ACCOUNT,
  KEY,
  MONTH,
  openScripts,
  REQUEST,
  redisKeys,
  requestNumber,
} from './open-scripts.ts';

const scripts = openScripts();
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
    expect(admitted).toHaveLength(1);
    expect(await scripts.key()).toMatchObject({ in_flight: String(40 + admitted.length) });
    expect(await scripts.account()).toMatchObject({ held: String(100 * (40 + admitted.length)) });
    expect(Object.keys(await scripts.holds())).toHaveLength(40 + admitted.length);
  });
});
