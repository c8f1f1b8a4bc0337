import { describe, expect, it } from 'vitest';
import { GROUP, openLists, usageOf } from '../scripts/list-scene.ts';
import { NOW_MS, requestNumber } from '../scripts/open-scripts.ts';

const { scripts, ask, setKeyList, setGroup, expectLimit } = openLists();
const LIST = 'i,d,1000,b;';
const WIDE = 'i,d,100000,b;';

/** What has the list that is taken off, and a wider one that stays meanwhile. */
const HOLDERS = {
  key: async (list: string) => {
    await scripts.setAccount({ limits: WIDE });
    await setKeyList(list);
  },
  group: async (list: string) => {
    await scripts.setAccount({ limits: WIDE });
    await setKeyList('', { group: GROUP });
    await setGroup(list);
  },
  account: async (list: string) => {
    await setKeyList(WIDE);
    await scripts.setAccount({ limits: list });
  },
};

describe('a list that is taken off and set again', () => {
  it.each(Object.entries(HOLDERS))(
    'of the %s counts nothing of what began in between',
    async (level, setList) => {
      await setList(LIST);
      await ask(1, 10);
      await setList('');
      await ask(2, 600);
      await scripts.setClock(NOW_MS + 5);
      await setList(LIST);
      expect((await ask(3, 990)).kind).toBe('admitted');
      await scripts.settle(0, { requestId: requestNumber(2), usage: usageOf(0, 0) });
      await expectLimit(ask(4, 11), { level, countedAmount: 990, heldAmount: 990 });
    },
  );

  it('counts nothing of what began before, while the clock of a new master is behind', async () => {
    await HOLDERS.key(LIST);
    await ask(1, 10);
    await setKeyList('');
    await scripts.setClock(NOW_MS - 30_000);
    await ask(2, 600);
    await setKeyList(LIST);
    expect((await ask(3, 990)).kind).toBe('admitted');
    await scripts.settle(0, { requestId: requestNumber(2), usage: usageOf(0, 0) });
    await expectLimit(ask(4, 11), { level: 'key', countedAmount: 990, heldAmount: 990 });
    await scripts.settle(0, { requestId: requestNumber(3), usage: usageOf(0, 0) });
    expect((await ask(5, 1_000)).kind).toBe('admitted');
  });

  it('has room for all of its requests', async () => {
    const askOften = (from: number) =>
      scripts.admitTogether(
        Array.from({ length: 40 }, (_, n) => ({
          requestId: requestNumber(from + n),
          holdMicros: 0,
        })),
      );
    await setKeyList('r,60000,40,b;');
    await askOften(100);
    await setKeyList('i,d,1000,b;');
    await ask(1, 1);
    await setKeyList('r,60000,40,b;');
    const kinds = (await askOften(200)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(40);
    await expectLimit(ask(2, 0), { unit: 'requests', countedAmount: 40 });
  });
});
