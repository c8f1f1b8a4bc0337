import { pack } from 'msgpackr';
import { expect, test } from 'vitest';
import { createChargeFinder } from '../../../src/books/questions/receipts/charge-finder.ts';
import { findReceipt } from '../../../src/books/questions/receipts/find-receipt.ts';
import { readStreamPage } from '../../../src/books/stream/read-stream.ts';
import { STREAM_START } from '../../../src/books/stream/stream-id.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { settle } from '../../../src/quota/scripts/settle.ts';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { DETAILS } from '../../support/request-details.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { begin, createAccount, pay, serve } from '../stream-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, enter, enterStream, WANTED } from './questions-scene.ts';

const BUCKET = 200;
const redis = useRedis();

/** Empty: what other tests left there would be swept too. */
async function emptyRedis() {
  await redis.server.cli('flushall');
  return redis;
}

describeBooks('a receipt', (scene) => {
  const open = async () => {
    const { connection } = await emptyRedis();
    const context = contextOf(await scene.create(), redis);
    const account = await createAccount(connection, BUCKET);
    const receiptOf = (requestId: string) => findReceipt(context, requestId, WANTED);
    return { connection, context, account, receiptOf, ledger: keysOfBucket(BUCKET).ledger };
  };

  test('is the same from Redis, and from the books when Redis has nothing of it', async () => {
    const { connection, context, account, receiptOf, ledger } = await open();
    const requestId = await serve(connection, account);
    const fromRedis = await receiptOf(requestId);
    expect(fromRedis).toMatchObject({
      ...{ state: 'ended', kind: 'charge', charged: 0.0007, held: 0.001 },
      ...{ account: account.id, account_name: null, key: account.keyId, key_name: null },
      ...{ masked_key: DETAILS.maskedKey, asked: { body_bytes: DETAILS.bodyBytes } },
      times: { total_ms: DETAILS.totalMs, started_at: new Date(DETAILS.startedMs).toISOString() },
      ledger: [{ kind: 'charge', charged: 0.0007 }],
    });
    await enterStream(context, BUCKET);
    expect(await receiptOf(requestId)).toEqual(fromRedis);
    await connection.send('del', [ledger, keysOfBucket(BUCKET).done(requestId)]);
    expect(await receiptOf(requestId)).toEqual(fromRedis);
  });

  test('tells the names that the books have', async () => {
    const { connection, context, account, receiptOf } = await open();
    const { db } = context.books;
    const [names, { id, keyId }] = [{ plan: 'pro', status: 'active', bucket: BUCKET }, account];
    await db
      .insertInto('account_names')
      .values({ ...names, account: id, name: 'Acme', created_ms: 0 })
      .execute();
    await db
      .insertInto('key_names')
      .values({ key: keyId, account: id, name: 'web', last4: 'abcd', status: 'active' })
      .execute();
    const { requestId } = await begin(connection, account);
    expect(await receiptOf(requestId)).toMatchObject({
      ...{ state: 'running', account_name: 'Acme', key_name: 'web', held: 0.001 },
    });
    expect(await receiptOf(await serve(connection, account))).toMatchObject({
      ...{ state: 'ended', account_name: 'Acme', key_name: 'web' },
    });
  });

  test('is found without a mark while its entry waits in Redis', async () => {
    const { connection, account, receiptOf } = await open();
    const requestId = await serve(connection, account);
    await connection.send('del', [keysOfBucket(BUCKET).done(requestId)]);
    expect(await receiptOf(requestId)).toMatchObject({ charged: 0.0007 });
  });

  test.each([false, true])(
    'has both entries of what was settled late; the first one in the books: %s',
    async (isEntered) => {
      const { connection, context, account, receiptOf } = await open();
      const { requestId, end } = await begin(connection, account, { leaseMs: 1 });
      await waitUntil(
        async () => (await sweep(connection, BUCKET, 10, DEFAULT_WARNINGS)).swept === 1,
        'the lease has run out',
      );
      if (isEntered) await enterStream(context, BUCKET);
      expect(await receiptOf(requestId)).toMatchObject({ kind: 'expired', asked: null });
      await end(700);
      const late = {
        ...{ kind: 'late', held: 0.001, charged: 0.0007, usage: { estimated: true } },
        ledger: [
          { kind: 'expired', charged: 0 },
          { kind: 'late', charged: 0.0007 },
        ],
      };
      expect(await receiptOf(requestId)).toMatchObject(late);
      await enterStream(context, BUCKET);
      expect(await receiptOf(requestId)).toMatchObject(late);
    },
  );

  test('has an event once that a failover took back and that was repeated', async () => {
    const { connection, context, account, receiptOf, ledger } = await open();
    const { requestId, end } = await begin(connection, account, { leaseMs: 1 });
    await waitUntil(
      async () => (await sweep(connection, BUCKET, 10, DEFAULT_WARNINGS)).swept === 1,
      'the lease has run out',
    );
    await enterStream(context, BUCKET);
    const page = await readStreamPage(connection, BUCKET, { after: STREAM_START, until: '+' });
    const entry = page.find(({ fields }) => fields.some((field) => field.includes(requestId)));
    await connection.send('xdel', [ledger, entry?.id ?? '']);
    const again = await connection.send('xadd', [ledger, '*', ...(entry?.fields ?? [])]);
    await end(700);
    expect(await receiptOf(requestId)).toMatchObject({
      charged: 0.0007,
      ledger: [{ kind: 'expired', id: again }, { kind: 'late' }],
    });
  });

  test('has an event once that Redis has twice', async () => {
    const { connection, account, receiptOf, ledger } = await open();
    const requestId = await serve(connection, account);
    const page = await readStreamPage(connection, BUCKET, { after: STREAM_START, until: '+' });
    const entry = page.find(({ fields }) => fields.some((field) => field.includes(requestId)));
    await connection.send('xadd', [ledger, '*', ...(entry?.fields ?? [])]);
    expect(await receiptOf(requestId)).toMatchObject({
      charged: 0.0007,
      ledger: [{ kind: 'charge', id: entry?.id }],
    });
  });

  test('is made of what an earlier version wrote, without what that did not know', async () => {
    const { connection, account, receiptOf } = await open();
    const { requestId, month } = await begin(connection, account);
    await settle(
      connection,
      {
        ...{ bucket: BUCKET, accountId: account.id, keyId: account.keyId, requestId, month },
        ...{ model: 'llm-a', extras: '', actualMicros: 700, lastKnownMs: Date.now() },
        usage: pack([1, 11, 22, 33, 44, 200, 66, false]),
      },
      DEFAULT_WARNINGS,
    );
    expect(await receiptOf(requestId)).toMatchObject({
      charged: 0.0007,
      usage: { input: 11, output: 200, thinking: 66, estimated: false },
      ...{ asked: null, times: null },
    });
  });

  test('is not that of a payment with the id of a request, nor of any other text', async () => {
    const { connection, account, receiptOf } = await open();
    const requestId = await serve(connection, account);
    const paymentId = `${requestId.slice(0, -1)}${requestId.endsWith('x') ? 'y' : 'x'}`;
    await pay(connection, account, { paymentId, micros: 5 });
    for (const id of [paymentId, '', 'x', `${requestId}'`, '\0', 'req_'.repeat(9_000)]) {
      expect(await receiptOf(id), id.slice(0, 30)).toBeNull();
    }
  });

  test('is found on the day after, and of a sample of refused requests', async () => {
    const { context, receiptOf } = await open();
    const late = makeEntry();
    const refused = makeEntry({
      ...{ kind: 'refused', bucket: 256, charged: 0, held: 0, details: null, outcome: 'refused' },
    });
    await enter(context.books, [{ ...late, ms: late.ms + 29 * 3_600_000 }, refused]);
    expect(await receiptOf(late.request)).toMatchObject({ charged: 0.0005, state: 'ended' });
    expect(await receiptOf(refused.request)).toMatchObject({ kind: 'refused', charged: 0 });
  });
});

describeBooks('what a request was charged already', (scene) => {
  test.each([false, true])(
    'is found by the request and its bucket; in the books: %s',
    async (isEntered) => {
      const { connection } = await emptyRedis();
      const context = contextOf(await scene.create(), redis);
      const account = await createAccount(connection, BUCKET);
      const expired = await begin(connection, account, { leaseMs: 1 });
      await waitUntil(
        async () => (await sweep(connection, BUCKET, 10, DEFAULT_WARNINGS)).swept === 1,
        'the lease has run out',
      );
      const served = await serve(connection, account, 700);
      const running = await begin(connection, account);
      if (isEntered) await enterStream(context, BUCKET);
      const find = createChargeFinder(context);
      const found = [expired.requestId, served, running.requestId, 'no id'].map((requestId) =>
        find({ requestId, bucket: BUCKET }),
      );
      expect(await Promise.all(found)).toEqual([0, 700, undefined, undefined]);
    },
  );

  test('is looked for no longer than a minute in all, until nobody asked for a while', async () => {
    const { connection } = redis;
    let nowMs = Date.now();
    const nextMs = () => {
      nowMs += 11_000;
      return nowMs;
    };
    const context = { ...contextOf(await scene.create(), redis), clock: { nowMs: nextMs } };
    const account = await createAccount(connection, BUCKET);
    const requestId = await serve(connection, account, 700);
    const find = createChargeFinder(context);
    const findAll = async () => {
      const answers = [1, 2, 3, 4, 5, 6, 7, 8].map(() => find({ requestId, bucket: BUCKET }));
      return (await Promise.all(answers)).filter((charged) => charged === 700).length;
    };
    expect(await findAll()).toBeLessThan(8);
    expect(await findAll()).toBe(0);
    nowMs += 600_000;
    expect(await findAll()).toBeGreaterThan(0);
  });
});
