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
    await settle(1, 60);
    await goBack();
    await ask(2, 40);
    await expectLimit(ask(3, 1), { countedAmount: 100, waitMs: DAY_MS / 2 });
    await scripts.setClock(NOW_MS + DAY_MS / 2);
    expect((await ask(4, 100)).kind).toBe('admitted');
  });
});

const EDGES = { d: Date.UTC(2026, 10, 16), w: Date.UTC(2026, 10, 16), m: Date.UTC(2026, 11, 1) };

describe.each(Object.entries(EDGES))(
  'a clock that goes back over the edge of %s',
  (window, edgeMs) => {
    const setClock = (seconds: number) => scripts.setClock(edgeMs + seconds * 1_000);
    const setLimit = (unit: string) => setKeyList(`${unit},${window},1000,b;`);

    it('goes on after the edge with what it counted there before', async () => {
      await setLimit('t');
      await setClock(5);
      for (const number of [1, 2]) await ask(number, 400);
      await settle(1, 100);
      await setClock(-120);
      await ask(3, 50);
      await expectLimit(ask(4, 451), { countedAmount: 550, heldAmount: 450 });
      await setClock(10);
      await ask(5, 500);
      await expectLimit(ask(6, 1), { countedAmount: 1_000, heldAmount: 900 });
      for (const number of [2, 3]) await settle(number, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 110, heldAmount: 500 }]);
      await settle(5, 500);
      expect(await readLimits()).toMatchObject([{ usedAmount: 610, heldAmount: 0 }]);
    });

    it('goes on after the edge with what has ended before it', async () => {
      await setLimit('t');
      await setClock(5);
      await ask(1, 900);
      await setClock(-120);
      await ask(2, 50);
      await settle(1, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 10, heldAmount: 50 }]);
      await setClock(10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 10, heldAmount: 0 }]);
    });

    it('charges after the edge what there is room for then', async () => {
      await setLimit('c');
      await setClock(5);
      await ask(1, 0, 0, { holdMicros: 100 });
      await setClock(-120);
      await ask(2, 0, 0, { holdMicros: 10 });
      await setClock(10);
      await scripts.setAccount({ balance: 10_000 });
      await ask(3, 0, 0, { holdMicros: 850 });
      expect(await scripts.settle(400, { requestId: requestNumber(1) })).toMatchObject({
        ...{ chargedMicros: 150, shortMicros: 250 },
      });
      await expectLimit(ask(4, 0, 0, { holdMicros: 1 }), { countedAmount: 1_000 });
    });

    it('takes nothing off for a request of the time before it was ahead', async () => {
      await setLimit('t');
      await setClock(-180);
      await ask(1, 900);
      await setClock(5);
      await ask(2, 900);
      await setClock(-120);
      await ask(3, 50);
      await settle(1, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 0, heldAmount: 950 }]);
    });

    it('takes nothing off for a request of a time that is far away', async () => {
      await setLimit('t');
      await setClock((40 * DAY_MS) / 1_000);
      await ask(1, 900);
      await setClock(-120);
      await ask(2, 50);
      await setClock(10);
      await ask(3, 900);
      await settle(1, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 0, heldAmount: 900 }]);
    });

    it('takes nothing off for a request of a time that was over when it went back', async () => {
      await setLimit('t');
      await setClock(5);
      await ask(1, 900);
      await setClock((40 * DAY_MS) / 1_000);
      await ask(2, 50);
      await setClock(-120);
      await ask(3, 50);
      await settle(1, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 0, heldAmount: 100 }]);
    });

    it('begins a period that was not so near with what still runs', async () => {
      await setLimit('t');
      await setClock(5);
      for (const number of [1, 2]) await ask(number, 400);
      await settle(1, 400);
      await setClock(-2 * 3_600);
      await ask(3, 50);
      await setClock(10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 0, heldAmount: 400 }]);
      await settle(2, 10);
      expect(await readLimits()).toMatchObject([{ usedAmount: 10, heldAmount: 0 }]);
    });
  },
);
