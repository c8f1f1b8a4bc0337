import { expect, test } from 'vitest';
import { createForgetter } from '../../src/bookkeeping/create-forgetter.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { describeBooks } from '../books/books-scene.ts';
import { enterStreams } from '../books/enter-streams.ts';
import { createAccount, serve } from '../books/stream-scene.ts';
import { useRedis } from '../books/use-redis.ts';
import { createMemoryLog } from '../support/memory-log.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const NOW_MS = Date.parse('2026-11-20T12:00:00Z');

describeBooks('old counts of refusals', (scene) => {
  const redis = useRedis();

  const forget = async (
    isIngesting: boolean,
    refusalsKeptMs: number | undefined,
    nowMs = NOW_MS,
  ) => {
    const books = await scene.create();
    const count = { source: 's', account: 'acct_a', key: 'key_a', model: 'm', count: 1 };
    const rows = [1, 3, 5, 60].map((days) => {
      const minute = Math.floor((NOW_MS - days * DAY_MS) / MINUTE_MS);
      return { ...count, refusal: 'rate_limited', minute };
    });
    await books.db.insertInto('refusals').values(rows).execute();
    const options = {
      ...{ books, connection: redis.connection, refusalsKeptMs, restMs: 0 },
      clock: { nowMs: () => nowMs },
      signal: new AbortController().signal,
    };
    const state = { untilMs: NOW_MS, failure: undefined, isIngesting };
    await createForgetter(options, () => ({ state: () => state }), createMemoryLog())();
    return (await books.db.selectFrom('refusals').select('minute').execute()).length;
  };

  test('are deleted by the node that writes the books, where no archiver does it', async () => {
    expect(await forget(true, 3 * DAY_MS)).toBe(2);
    expect(await forget(true, undefined)).toBe(4);
    expect(await forget(false, 3 * DAY_MS)).toBe(4);
  });

  test('are no older because the clock of the node is ahead', async () => {
    expect(await forget(true, 3 * DAY_MS, NOW_MS + 100 * DAY_MS)).toBe(2);
  });
});

describeBooks('what a key has spent in a month', (scene) => {
  const redis = useRedis();

  test('is forgotten by the time of the entries, also by a node whose clock is ahead', async () => {
    const books = await scene.create();
    const account = await createAccount(redis.connection, 7);
    await serve(redis.connection, account);
    await enterStreams(books, redis.connection, [7]);
    const record = keysOfBucket(7).key(account.keyId);
    const laterMs = Date.now() + 95 * DAY_MS;
    const forget = async (untilMs: number | undefined) => {
      const state = { untilMs, failure: undefined, isIngesting: true };
      const options = {
        ...{ books, connection: redis.connection, refusalsKeptMs: undefined, restMs: 0 },
        ...{ clock: { nowMs: () => laterMs }, signal: new AbortController().signal },
      };
      await createForgetter(options, () => ({ state: () => state }), createMemoryLog())();
      const fields = (await redis.connection.send('hkeys', [record])) as string[];
      return fields.filter((field) => field.startsWith('spent:')).length;
    };
    expect(await forget(undefined)).toBe(1);
    expect(await forget(Date.now())).toBe(1);
    // A round goes one month further.
    for (const days of [6, 4, 2]) await forget(laterMs - days * DAY_MS);
    expect(await forget(laterMs)).toBe(0);
  });
});
