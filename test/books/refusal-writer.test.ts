import { expect, test } from 'vitest';
import type { Books } from '../../src/books/engine/books.ts';
import { checkDays } from '../../src/books/verify/check-days.ts';
import { createRefusalWriter } from '../../src/books/writing/refusal-writer.ts';
import { describeBooks } from './books-scene.ts';

const START_MS = Date.parse('2026-11-20T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describeBooks('counts of refusals', (scene) => {
  /** A database that may be away. */
  const createScene = async () => {
    const books = await scene.create();
    const state = { nowMs: START_MS, elapsedMs: 0, isAway: false };
    const failing: Books = {
      ...books,
      get db() {
        if (state.isAway) throw new Error('the database is away');
        return books.db;
      },
    };
    const writer = createRefusalWriter(failing, {
      nodeId: 'node',
      nowMs: () => state.nowMs,
      elapsedMs: () => state.elapsedMs,
    });
    const pass = (ms: number) => {
      state.nowMs += ms;
      state.elapsedMs += ms;
    };
    const refuse = (keyId: string) => {
      const minute = Math.floor(state.nowMs / MINUTE_MS);
      const count = { minute, keyId, model: 'm', refusal: 'rate_limited' as const, count: 1 };
      writer.note({ counts: [count], samples: [] });
    };
    const sample = (requestId: string) => {
      const refused = { keyId: '', model: 'm', refusal: 'rate_limited', refusedMs: state.nowMs };
      const rest = { status: 429, format: 'native', isStream: false, durationMs: 1 };
      writer.note({ counts: [], samples: [{ requestId, ...refused, ...rest }] });
    };
    const learn = (key: string, account: string) =>
      books.db
        .insertInto('key_names')
        .values({ key, account, name: '', last4: 'abcd', status: 'active' })
        .execute();
    const read = () =>
      books.db.selectFrom('refusals').select(['key', 'account', 'count']).execute();
    return { books, state, pass, writer, refuse, sample, learn, read };
  };

  test('of a new key wait for its account', async () => {
    const { pass, writer, refuse, learn, read } = await createScene();
    refuse('key_new');
    await writer.write();
    expect(await read()).toEqual([]);
    await learn('key_new', 'acct_a');
    pass(2_000);
    await writer.write();
    expect(await read()).toEqual([{ key: 'key_new', account: 'acct_a', count: 1 }]);
  });

  test('of a key that is never known are written without an account', async () => {
    const { pass, writer, refuse, read } = await createScene();
    refuse('key_unknown');
    await writer.write();
    pass(MINUTE_MS);
    await writer.write();
    expect(await read()).toEqual([{ key: 'key_unknown', account: '', count: 1 }]);
  });

  test('of a key that is never known are written although the clock was set back', async () => {
    const { state, pass, writer, refuse, read } = await createScene();
    refuse('key_unknown');
    await writer.write();
    state.nowMs -= 100 * MINUTE_MS;
    pass(MINUTE_MS);
    await writer.write();
    expect(await read()).toEqual([{ key: 'key_unknown', account: '', count: 1 }]);
  });

  test('of a new key wait for its account also after the database was away', async () => {
    const { state, pass, writer, refuse, learn, read } = await createScene();
    refuse('key_new');
    await writer.write();
    state.isAway = true;
    pass(10 * MINUTE_MS);
    await expect(writer.write()).rejects.toThrow('the database is away');
    state.isAway = false;
    await writer.write();
    expect(await read()).toEqual([]);
    await learn('key_new', 'acct_a');
    await writer.write();
    expect(await read()).toEqual([{ key: 'key_new', account: 'acct_a', count: 1 }]);
  });

  test('may have samples that come to a day which was verified before', async () => {
    const { books, state, writer, sample } = await createScene();
    const verify = (isFull: boolean) => {
      const clock = { nowMs: () => state.nowMs + 7 * DAY_MS };
      return checkDays({ books, clock, isFull, onHour: () => {} });
    };
    sample('req_first');
    await writer.write();
    expect(await verify(false)).toMatchObject({ daysRead: 1, drifts: [] });
    expect(await verify(false)).toMatchObject({ daysRead: 0, drifts: [] });
    sample('req_second');
    await writer.write();
    expect(await verify(true)).toMatchObject({ daysRead: 1, drifts: [] });
    expect(await verify(true)).toMatchObject({ daysRead: 1, drifts: [] });
  });
});
