import { describe, expect, it } from 'vitest';
import { openLists } from './list-scene.ts';
import { ACCOUNT, KEY, LEASE_MS, NOW_MS, redisKeys, requestNumber } from './open-scripts.ts';

const { scripts, ask, setKeyList } = openLists();
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

describe.each([
  ['is short', "'short'"],
  ['has lost its end', 'string.sub(use, 1, -2)'],
  ['has more than its rows', "use .. 'x'"],
  ['has an unknown unit', "string.sub(use, 1, 19) .. '2' .. string.sub(use, 21)"],
  ['has half a later period', "string.sub(use, 1, -3) .. '\\1\\0x'"],
])('what an end user has counted, if it %s,', (_, damaged) => {
  const LIST = 't,d,50,b;';
  const admitOf = (number: number, user: string) =>
    ask(number, 30, 0, { holdMicros: 100, user, usersMax: 5 });

  /** Admits a request of each of two end users, and damages what the second one has counted. */
  const admitTwo = async () => {
    await setKeyList('', { template: LIST });
    const replies = [await admitOf(1, 'first'), await admitOf(2, 'second')];
    const damage = `local use = redis.call('HGET', KEYS[1], 'use')
      return redis.call('HSET', KEYS[1], 'use', ${damaged})`;
    await scripts.send('eval', damage, 1, `${redisKeys.prefix}user:${KEY}:second`);
    return replies.map((reply, index) => ({
      requestId: requestNumber(index + 1),
      extras: reply.kind === 'admitted' ? reply.extras : '',
    }));
  };
  const expectAllEnded = async () => {
    expect(await scripts.account()).toMatchObject({ held: '0' });
    expect(await scripts.key()).toMatchObject({ in_flight: '0' });
    expect(await scripts.holds()).toEqual({});
  };

  it('keeps no request of the run from being charged', async () => {
    const settled = (await admitTwo()).map((request) => ({ ...request, actualMicros: 70 }));
    const replies = await scripts.settleTogether(settled);
    expect(replies).toMatchObject([
      { kind: 'charge', chargedMicros: 70 },
      { kind: 'charge', chargedMicros: 70 },
    ]);
    expect(await scripts.account()).toMatchObject({ balance: '860' });
    await expectAllEnded();
  });

  it('keeps no lease from ending', async () => {
    await admitTwo();
    await scripts.setClock(NOW_MS + LEASE_MS);
    expect(await scripts.sweep()).toMatchObject({ swept: 2 });
    await expectAllEnded();
  });

  it('begins anew with the next request', async () => {
    await admitTwo();
    expect((await admitOf(3, 'second')).kind).toBe('admitted');
    expect((await admitOf(4, 'second')).kind).toBe('limit');
  });
});
