import { describe, expect, it } from 'vitest';
import { openLists } from '../list-scene.ts';
import { ACCOUNT, NOW_MS, redisKeys, requestNumber } from '../open-scripts.ts';
import { openEventReader } from './open-event-reader.ts';

const { scripts, ask, setKeyList } = openLists();
const MINUTE_MS = 60_000;

const { readEvents } = openEventReader(scripts);

describe('an account with many events', () => {
  it('tells so many in an hour, and then that more are left out', async () => {
    const count = redisKeys.eventCountOf(ACCOUNT);
    await scripts.setKey({ rpm: 1 });
    await ask(0, 0);
    expect(Number(await scripts.send('pttl', count))).toBeGreaterThan(MINUTE_MS);
    await scripts.send('del', redisKeys.events, redisKeys.holds);
    await scripts.setKey({ rpm: 0 });
    await scripts.send('hset', count, 'count', 299);
    await setKeyList('t,60000,100,b;i,60000,100,b;r,60000,1,b;');
    await ask(1, 90);
    expect(await readEvents()).toMatchObject([
      { type: 'limit.warning', unit: 'tokens' },
      { type: 'events.left_out', accountId: ACCOUNT, source: 'events', unit: undefined },
    ]);
  });

  it.each([
    ['a limit', 't,d,100,b;', undefined],
    ['a cap', '', 100],
  ])(
    'writes nothing for a request that %s refuses once it has told too much',
    async (_, list, cap) => {
      const count = `${redisKeys.prefix}told-of:${ACCOUNT}`;
      if (cap !== undefined) await scripts.setKey({ cap });
      await setKeyList(list);
      await ask(1, 60, 0, { holdMicros: 60 });
      await scripts.send('hset', count, 'count', 301);
      for (const number of [2, 3]) {
        const refused = await ask(number, 60, 0, { holdMicros: 60 });
        expect(refused.kind).toBe(cap === undefined ? 'limit' : 'cap');
      }
      expect(await scripts.send('hget', count, 'count')).toBe('301');
      expect(await readEvents()).toEqual([]);
    },
  );

  it('tells of its balance all the same', async () => {
    scripts.setWarnings({ lowBalanceMicros: 500 });
    await scripts.send('hset', redisKeys.eventCountOf(ACCOUNT), 'count', 5_000);
    await ask(1, 0, 0, { holdMicros: 600 });
    await scripts.settle(600, { requestId: requestNumber(1) });
    await ask(2, 0, 0, { holdMicros: 500, holdLeastMicros: 500 });
    const told = (await readEvents()).map(({ type, counted }) => `${type} ${counted}`);
    expect(told).toEqual(['balance.low 400', 'balance.exhausted 400']);
  });

  it('tells in the next hour what still refuses requests then', async () => {
    const count = redisKeys.eventCountOf(ACCOUNT);
    await scripts.setAccount({ limits: 't,m,100,b;' });
    await ask(1, 60);
    await scripts.send('hset', count, 'count', 300);
    for (const number of [2, 3]) await ask(number, 50);
    expect(await readEvents()).toMatchObject([{ type: 'events.left_out' }]);
    await scripts.send('del', count, redisKeys.events);
    for (const number of [4, 5]) await ask(number, 50);
    expect(await readEvents()).toMatchObject([
      { type: 'limit.reached', level: 'account', window: 'month', counted: 60 },
    ]);
  });

  it('tells so in each of its hours, also if two of them end in one hour of the clock', async () => {
    const count = redisKeys.eventCountOf(ACCOUNT);
    /** A cap of its own for each, so that each crosses it. */
    const tellAt = async (atMs: number, cap: number) => {
      await scripts.setClock(atMs);
      await scripts.setKey({ cap });
      await ask(cap, 0, 0, { holdMicros: 2_000, holdLeastMicros: 2_000 });
    };
    const leaveOut = async (beginsMs: number, endsMs: number, cap: number) => {
      await scripts.send('del', count);
      await tellAt(beginsMs, cap);
      const ids: string[] = [];
      // A failover may lose the second one, which is told again then.
      for (const again of [1, 2]) {
        await scripts.send('hset', count, 'count', 300);
        await scripts.send('del', redisKeys.events);
        await tellAt(endsMs, cap + again);
        ids.push(...(await readEvents()).map(({ id }) => id));
      }
      return ids;
    };
    const ids = [
      ...(await leaveOut(NOW_MS - 10 * MINUTE_MS, NOW_MS + MINUTE_MS, 10)),
      ...(await leaveOut(NOW_MS + 2 * MINUTE_MS, NOW_MS + 9 * MINUTE_MS, 20)),
    ];
    expect(ids).toHaveLength(4);
    const [first, firstAgain, next, nextAgain] = ids;
    expect([firstAgain, nextAgain]).toEqual([first, next]);
    expect(next).not.toBe(first);
  });
});
