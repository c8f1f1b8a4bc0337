import { expect, it } from 'vitest';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { describeBooks } from '../books-scene.ts';
import { enterStreams } from '../enter-streams.ts';
import { begin, createAccount, serve } from '../stream-scene.ts';
import { useRedis } from '../use-redis.ts';

const BUCKET = 3;
const KEYS = 1_200;

describeBooks('verifying an account with more keys than one call looks at', (scene) => {
  const redis = useRedis();

  it('counts it once, and finds each figure once that was changed', async () => {
    const { connection } = redis;
    const books = await scene.create();
    const { account, key, keysOf } = keysOfBucket(BUCKET);
    const owner = await createAccount(connection, BUCKET);
    const idle = Array.from({ length: KEYS }, (_, n) => `key_${n}`);
    await connection.send('sadd', [keysOf(owner.id), ...idle]);
    await serve(connection, owner);
    const { month } = await begin(connection, owner);
    await enterStreams(books, connection, [BUCKET]);
    const verify = () =>
      verifyBooks({
        ...{ books, connection, isFull: false, onProgress: () => {} },
        signal: new AbortController().signal,
        clock: { nowMs: Date.now },
      });
    expect(await verify()).toMatchObject({ is_clean: true, accounts: 1, key_months: 1 });

    await connection.send('hincrby', [account(owner.id), 'balance', '1']);
    await connection.send('hset', [key('key_7'), 'in_flight', '3']);
    await connection.send('hset', [key('key_1198'), `spent:${month}`, '5']);
    await connection.send('hdel', [key(owner.keyId), `spent:${month}`]);
    const { drifts } = await verify();
    const found = drifts.map((drift) => `${drift.key} ${drift.what}`);
    expect(found.toSorted()).toEqual(
      [
        'null balance_micros',
        'key_7 in_flight',
        'key_1198 spent_micros',
        `${owner.keyId} spent_micros`,
      ].toSorted(),
    );
  });
});
