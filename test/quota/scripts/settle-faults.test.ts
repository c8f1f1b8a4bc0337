import { describe, expect, it } from 'vitest';
import { ACCOUNT, KEY, openScripts, redisKeys, requestNumber } from './open-scripts.ts';

const scripts = openScripts();
const SETTLED = [1, 2, 3].map((number) => ({ requestId: requestNumber(number) }));

describe('a run of settlements that fails', () => {
  it.each([
    ['the ledger', ['set', redisKeys.ledger, 'x']],
    ['what the account holds', ['hset', redisKeys.account(ACCOUNT), 'held', 'x']],
    ['the holds', ['set', redisKeys.holds, 'x']],
  ])('because of %s charges nothing and ends nothing', async (_, [command = '', ...args]) => {
    await scripts.admitTogether(SETTLED.slice(0, 2));
    await scripts.send(command, ...args);
    const stand = async () => [
      ...[await scripts.account(), await scripts.key(), await scripts.done()],
      await scripts.send('dump', redisKeys.holds),
    ];
    const before = await stand();
    const settled = SETTLED.map((request) => ({ ...request, actualMicros: 150 }));
    const replies = await Promise.allSettled(scripts.settleTurn(settled));
    expect(replies.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
    expect(await stand()).toEqual(before);
  });

  it.each([
    ['the cap', ['hset', redisKeys.key(KEY), 'cap', 'x']],
    ['a mark', ['hset', redisKeys.done(requestNumber(3)), requestNumber(3), 'x']],
    ['the renewals', ['set', redisKeys.renewals, 'x']],
  ])('does not for %s that nobody can read', async (_, [command = '', ...args]) => {
    await scripts.admitTogether(SETTLED.slice(0, 2));
    await scripts.renew(10, SETTLED[1]);
    await scripts.send(command, ...args);
    await scripts.settleTogether(SETTLED.map((request) => ({ ...request, actualMicros: 150 })));
    expect(await scripts.account()).toMatchObject({ held: '0' });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
    expect(await scripts.holds()).toEqual({});
  });
});
