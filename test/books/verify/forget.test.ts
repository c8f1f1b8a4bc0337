import { beforeEach, expect, it } from 'vitest';
import { forgetOldCounters } from '../../../src/books/duties/forget-old-counters.ts';
import { firstKeptMonth } from '../../../src/books/duties/kept-months.ts';
import type { Books } from '../../../src/books/engine/books.ts';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { describeBooks } from '../books-scene.ts';
import { enterStreams } from '../enter-streams.ts';
import { begin, createAccount, serve, type TestAccount } from '../stream-scene.ts';
import { useRedis } from '../use-redis.ts';

const DAY_MS = 86_400_000;
/** A little more than that from one round to the next. */
const ROUND_MS = 1.1 * DAY_MS;

it.each([
  ['2026-11-23', '202609'],
  ['2027-01-31', '202611'],
  ['2027-03-31', '202701'],
])('on %s the first month that Redis keeps is %s', (day, month) => {
  expect(firstKeptMonth(Date.parse(day))).toBe(month);
});

describeBooks('forgetting old counters', (scene) => {
  const redis = useRedis();
  let books: Books;
  let account: TestAccount;
  let record = '';

  beforeEach(async () => {
    books = await scene.create();
    account = await createAccount(redis.connection, 7);
    record = keysOfBucket(7).key(account.keyId);
    await serve(redis.connection, account);
    await enterStreams(books, redis.connection, [7]);
  });

  const forget = (laterMs: number) =>
    forgetOldCounters({
      ...{ books, connection: redis.connection, restMs: 0 },
      clock: { nowMs: () => Date.now() + laterMs },
      signal: new AbortController().signal,
    });
  const verify = (laterMs: number) =>
    verifyBooks({
      ...{ books, connection: redis.connection, isFull: false, onProgress: () => {} },
      signal: new AbortController().signal,
      clock: { nowMs: () => Date.now() + laterMs },
    });
  const fields = async () => (await redis.connection.send('hkeys', [record])) as string[];
  const spentFields = async () => (await fields()).filter((field) => field.startsWith('spent:'));
  const revoke = async () => {
    await redis.connection.send('hset', [record, 'status', 'revoked']);
    await books.db
      .insertInto('audit')
      .values({
        ...{ entry: 'e1', ms: Date.now(), seq: 0, what: 'key.revoke', via: 'cli', token: null },
        ...{ address: null, node: 'n', account: account.id, key: account.keyId },
        ...{ outcome: 'done', before: null, after: null },
      })
      .execute();
  };

  it('lets an old month go, and keeps what is younger', async () => {
    expect(await forget(20 * DAY_MS)).toEqual({ months: 0, keys: 0 });
    expect(await spentFields()).toHaveLength(1);
    let months = 0;
    for (let round = 0; round < 4; round++) {
      months += (await forget(95 * DAY_MS + round * ROUND_MS)).months;
    }
    expect(months).toBe(1);
    expect(await spentFields()).toEqual([]);
    expect(await verify(100 * DAY_MS)).toMatchObject({ is_clean: true, key_months: 1 });
  });

  it('keeps a month that the books and Redis do not agree about', async () => {
    await serve(redis.connection, account);
    expect(await forget(95 * DAY_MS)).toEqual({ months: 0, keys: 0 });
    await enterStreams(books, redis.connection, [7]);
    expect(await forget(97 * DAY_MS)).toEqual({ months: 1, keys: 0 });
  });

  it('keeps a month for which something is held', async () => {
    const running = await begin(redis.connection, account);
    expect(await forget(95 * DAY_MS)).toEqual({ months: 0, keys: 0 });
    await running.end(0);
    expect(await forget(97 * DAY_MS)).toEqual({ months: 1, keys: 0 });
  });

  it('keeps the month that is used when a clock is far ahead for a while', async () => {
    await forget(0);
    for (const laterMs of [95 * DAY_MS, 0, 400 * DAY_MS, 10 * DAY_MS]) {
      expect(await forget(laterMs)).toEqual({ months: 0, keys: 0 });
    }
    expect(await spentFields()).toHaveLength(1);
  });

  it('goes round once a day', async () => {
    await forget(95 * DAY_MS);
    await redis.connection.send('hset', [record, 'spent:202001', '0']);
    await books.db
      .insertInto('key_months')
      .values({ account: account.id, key: account.keyId, month: '202001', bucket: 7, charged: 0 })
      .execute();
    expect(await forget(95.5 * DAY_MS)).toEqual({ months: 0, keys: 0 });
    expect(await forget(96.1 * DAY_MS)).toEqual({ months: 1, keys: 0 });
  });

  it('removes a key that was revoked long ago, with its place in the list', async () => {
    await revoke();
    expect(await forget(80 * DAY_MS)).toMatchObject({ keys: 0 });
    expect(await forget(95 * DAY_MS)).toMatchObject({ keys: 1 });
    expect(await fields()).toEqual([]);
    const { keysOf } = keysOfBucket(7);
    expect(await redis.connection.send('smembers', [keysOf(account.id)])).toEqual([]);
    expect(await verify(95 * DAY_MS)).toMatchObject({ is_clean: true, drifts: [] });
  });

  it('keeps a key whose revocation is not in the books, and one with a request', async () => {
    await redis.connection.send('hset', [record, 'status', 'revoked']);
    expect(await forget(95 * DAY_MS)).toEqual({ months: 1, keys: 0 });
    await revoke();
    await redis.connection.send('hset', [record, 'in_flight', '1']);
    expect(await forget(97 * DAY_MS)).toEqual({ months: 0, keys: 0 });
    await redis.connection.send('hset', [record, 'in_flight', '0', 'status', 'active']);
    expect(await forget(99 * DAY_MS)).toEqual({ months: 0, keys: 0 });
  });
});
