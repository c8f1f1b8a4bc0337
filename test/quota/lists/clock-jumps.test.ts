import { describe, expect, it } from 'vitest';
import { describeKey } from '../../../src/quota/scripts/describing/describe-key.ts';
import { openLists, usageOf } from '../scripts/list-scene.ts';
import { ACCOUNT, BUCKET, KEY, NOW_MS, requestNumber, WINDOW_MS } from '../scripts/open-scripts.ts';

const { scripts, ask, setKeyList, expectLimit } = openLists();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JUMPS = { hour: HOUR_MS, day: DAY_MS, month: 31 * DAY_MS };
const WINDOWS = [60_000, HOUR_MS, 'd', 'w', 'm'];
const REQUESTS = 25;

const settle = (number: number, input: number) =>
  scripts.settle(1, { requestId: requestNumber(number), usage: usageOf(input, 0) });
const readLimits = async () => {
  const question = { bucket: BUCKET, keyId: KEY, accountId: ACCOUNT, windowMs: WINDOW_MS };
  return (await describeKey(scripts.connection, { ...question, plans: { team: 1_000 } })).limits;
};

describe.each(Object.entries(JUMPS))('a clock that was ahead by a %s', (_jump, jumpMs) => {
  const goBack = () => scripts.setClock(NOW_MS);
  const goAhead = () => scripts.setClock(NOW_MS + jumpMs);
  const lists = ['t', 'i', 'c'].flatMap((unit) => WINDOWS.map((w) => `${unit},${w},100,b;`));

  /** Each holds 10 and uses 1, so a limit that gives nothing back is soon full. */
  const askOften = async () => {
    for (let number = 10; number < 10 + REQUESTS; number++) {
      expect((await ask(number, 10, 0, { holdMicros: 10 })).kind, `${number}`).toBe('admitted');
      await settle(number, 1);
    }
  };

  it.each(lists)('lets a limit %s that began then give back what it holds', async (list) => {
    await setKeyList(list);
    await goAhead();
    await ask(1, 10, 0, { holdMicros: 10 });
    await goBack();
    await settle(1, 1);
    await askOften();
    expect(await readLimits()).toMatchObject([{ usedAmount: REQUESTS + 1, heldAmount: 0 }]);
  });

  it.each(lists)('lets a limit %s that was there before give back what it holds', async (list) => {
    await setKeyList(list);
    await ask(1, 10, 0, { holdMicros: 10 });
    await settle(1, 1);
    await goAhead();
    await ask(2, 10, 0, { holdMicros: 10 });
    await goBack();
    await askOften();
    await settle(2, 1);
    const [limit] = await readLimits();
    expect(limit?.heldAmount).toBe(0);
    expect(limit?.usedAmount).toBeGreaterThan(REQUESTS);
    expect(limit?.usedAmount).toBeLessThanOrEqual(REQUESTS + 2);
  });

  it.each(['c,3600000,100,b;', 'c,d,100,b;', 'c,m,100,b;'])(
    'charges what began then as far as %s has room',
    async (list) => {
      await setKeyList(list);
      await goAhead();
      await ask(1, 0, 0, { holdMicros: 50 });
      await goBack();
      await ask(2, 0, 0, { holdMicros: 10 });
      expect(await scripts.settle(200, { requestId: requestNumber(1) })).toMatchObject({
        ...{ chargedMicros: 90, shortMicros: 110 },
      });
      await expectLimit(ask(3, 0, 0, { holdMicros: 1 }), { countedAmount: 100, heldAmount: 10 });
    },
  );

  it('begins the next day with nothing', async () => {
    await setKeyList('t,d,100,b;');
    await goAhead();
    await ask(1, 60);
    await goBack();
    await ask(2, 40);
    await expectLimit(ask(3, 1), { countedAmount: 100, waitMs: DAY_MS / 2 });
    await scripts.setClock(NOW_MS + DAY_MS / 2);
    expect((await ask(4, 100)).kind).toBe('admitted');
  });
});
