import { describe, expect, it } from 'vitest';
import { createAsker } from '../create-asker.ts';
import {
  ACCOUNT,
  NOW_MS,
  openScripts,
  redisKeys,
  requestNumber,
  WINDOW_MS,
} from '../open-scripts.ts';

const scripts = openScripts();
const { ask, askAll, logOf } = createAsker(scripts);

describe('a window', () => {
  it('lets exactly the limit in, and the next one when the oldest is a window old', async () => {
    await scripts.setAccount({ plan: 'pro' });
    expect(await askAll(0, 10, 20, 30, 59_999, 60_000, 60_000, 60_009, 60_010)).toEqual([
      ...['2 left', '1 left', '0 left', 'account 59970', 'account 1'],
      ...['0 left', 'account 10', 'account 1', '0 left'],
    ]);
  });

  it('counts no refusal', async () => {
    await scripts.setAccount({ plan: 'starter' });
    await askAll(0, 0, 1, 2, 3, 4, 5);
    expect(await logOf()).toEqual([0, 0]);
    expect(await askAll(60_000, 60_000, 60_000)).toEqual(['1 left', '0 left', 'account 60000']);
  });

  it('tells when nothing counts any more', async () => {
    await scripts.setAccount({ plan: 'starter' });
    await ask(0);
    expect(await scripts.admit()).toMatchObject({
      rate: { left: 0, resetMs: WINDOW_MS, limit: 2 },
    });
    await scripts.setClock(NOW_MS + 20_000);
    expect(await scripts.admit({ requestId: requestNumber(0) })).toMatchObject({
      kind: 'rate',
      rate: { nowMs: NOW_MS + 20_000, left: 0, resetMs: 40_000, limit: 2, windowMs: WINDOW_MS },
    });
  });

  it('of the key and of the account must both have room, and neither is used when one has none', async () => {
    await scripts.setKey({ rpm: 2 });
    await scripts.setAccount({ plan: 'pro' });
    expect(await askAll(0, 10, 20)).toEqual(['1 left', '0 left', 'key 59980']);
    expect(await logOf()).toEqual([0, 10]);
    await scripts.setKey({ rpm: 10 });
    expect(await askAll(30, 40)).toEqual(['0 left', 'account 59960']);
    expect(await logOf()).toEqual([0, 10, 30]);
  });

  it('is told by the longer wait', async () => {
    await scripts.setAccount({ plan: 'starter' });
    await scripts.setKey({ rpm: 1 });
    expect(await askAll(0)).toEqual(['0 left']);
    await scripts.setKey({ rpm: 5 });
    expect(await askAll(100)).toEqual(['0 left']);
    await scripts.setKey({ rpm: 1 });
    expect(await askAll(200)).toEqual(['key 59900']);
    await scripts.setKey({ rpm: 3 });
    expect(await askAll(200)).toEqual(['account 59800']);
  });

  it('is exact at once when its limit is lowered or raised', async () => {
    await scripts.setKey({ rpm: 5 });
    expect(await askAll(0, 10, 20, 30)).toEqual(['4 left', '3 left', '2 left', '1 left']);
    await scripts.setKey({ rpm: 2 });
    expect(await askAll(40)).toEqual(['key 59980']);
    await scripts.setKey({ rpm: 6 });
    expect(await askAll(50, 60, 70)).toEqual(['1 left', '0 left', 'key 59930']);
    await scripts.setKey({ rpm: 0 });
    expect(await askAll(80)).toEqual(['993 left']);
  });

  it('is exact when its limit is lowered while blocks of its log expire', async () => {
    await scripts.setKey({ rpm: 60 });
    await askAll(...Array.from({ length: 48 }, (_, n) => 100 * n));
    // The first two blocks have expired, and so has a part of the third.
    await scripts.setKey({ rpm: 6 });
    expect(await ask(62_000)).toBe(`key ${60_000 + 4_200 - 62_000}`);
    await scripts.setKey({ rpm: 20 });
    expect(await ask(62_000)).toBe(`key ${60_000 + 2_800 - 62_000}`);
    expect(await askAll(62_800, 62_899, 62_900)).toEqual(['0 left', 'key 1', '0 left']);
  });

  it('gives an account with an unknown plan the smallest', async () => {
    await scripts.setAccount({ plan: 'of a later version' });
    expect(await askAll(0, 0, 0)).toEqual(['1 left', '0 left', 'account 60000']);
  });

  it('forgets a burst at once, and nothing that still counts', async () => {
    await askAll(...Array.from({ length: 40 }, (_, n) => n));
    expect(await askAll(60_019)).toEqual(['979 left']);
    expect(await logOf()).toHaveLength(21);
    expect(await askAll(200_000)).toEqual(['999 left']);
    expect(await logOf()).toEqual([200_000]);
  });

  it('keeps a few in the record alone', async () => {
    await askAll(0, 1, 2, 3, 4, 5, 6, 7);
    expect(await scripts.send('exists', redisKeys.accountLog(ACCOUNT))).toBe(0);
    expect(await logOf()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it.each([1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 33])(
    'is exact where its limit is %i',
    async (rpm) => {
      await scripts.setKey({ rpm });
      const times = Array.from({ length: rpm }, (_, n) => 10 * n);
      expect(await askAll(...times)).toEqual(times.map((_, n) => `${rpm - 1 - n} left`));
      const last = 10 * (rpm - 1);
      expect(await ask(last)).toBe(`key ${60_000 - last}`);
      for (const time of times) {
        expect(await askAll(59_999 + time, 60_000 + time)).toEqual(['key 1', '0 left']);
      }
      await scripts.setKey({ rpm: 1 });
      expect(await ask(60_000 + last)).toBe('key 60000');
    },
  );

  it('lives as long as its entries count, and not for ever', async () => {
    await askAll(...Array.from({ length: 20 }, () => 0));
    const leftMs = Number(await scripts.send('pttl', redisKeys.accountLog(ACCOUNT)));
    // An entry may be a window ahead of the clock. The last entry that does not renew the log's
    // life may come a window after it.
    expect(leftMs).toBeGreaterThan(2 * WINDOW_MS);
    expect(leftMs).toBeLessThanOrEqual(3 * WINDOW_MS);
  });

  it('has its life renewed in each window that it is used in', async () => {
    const log = redisKeys.accountLog(ACCOUNT);
    for (const afterMs of [0, WINDOW_MS, 2 * WINDOW_MS]) {
      await askAll(...Array.from({ length: 20 }, () => afterMs - 1));
      await scripts.send('persist', log);
      await ask(afterMs);
      expect(Number(await scripts.send('pttl', log))).toBeGreaterThan(2 * WINDOW_MS);
    }
  });
});

describe('a window whose clock steps', () => {
  it.each([500, 5_000, 59_000, 60_000])(
    'back by %i ms makes nobody wait longer than it is',
    async (step) => {
      await scripts.setAccount({ plan: 'starter' });
      await askAll(0, 0);
      expect(await ask(-step)).toBe('account 60000');
      expect(await ask(59_999)).toBe('account 1');
      expect(await ask(60_000)).toBe('1 left');
    },
  );

  it('back by less than itself keeps its times in order', async () => {
    await scripts.setAccount({ plan: 'pro' });
    await askAll(0, -5_000, -10_000);
    expect(await logOf()).toEqual([0, 0, 0]);
    expect(await ask(50_001)).toBe('account 9999');
  });

  it('back by more than itself begins anew', async () => {
    await scripts.setAccount({ plan: 'starter' });
    await askAll(0, 0);
    expect(await askAll(-60_001, -60_001, -60_001)).toEqual(['1 left', '0 left', 'account 60000']);
  });

  it('ahead lets in earlier by as much', async () => {
    await scripts.setAccount({ plan: 'starter' });
    expect(await askAll(0, 0, 5_000)).toEqual(['1 left', '0 left', 'account 55000']);
  });
});
