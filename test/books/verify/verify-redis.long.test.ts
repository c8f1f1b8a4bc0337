import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { dayOfMs } from '../../../src/books/engine/days.ts';
import { readVerifiedFact } from '../../../src/books/verify/verified-fact.ts';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { renew } from '../../../src/quota/scripts/renew.ts';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { enterStreams } from '../enter-streams.ts';
import { begin, createAccount, pay, serve, type TestAccount } from '../stream-scene.ts';
import { useRedis } from '../use-redis.ts';

const BUCKETS = [3, 200];
const HOUR_MS = 3_600_000;

describeBooks('verifying Redis against the books', (scene) => {
  const redis = useRedis();
  let books: Books;
  let accounts: TestAccount[] = [];

  beforeEach(async () => {
    books = await scene.create();
    accounts = [];
    for (const bucket of BUCKETS) accounts.push(await createAccount(redis.connection, bucket));
    await Promise.all(
      accounts.flatMap((account) => [1, 2, 3].map(() => serve(redis.connection, account))),
    );
  });

  const enter = () => enterStreams(books, redis.connection, BUCKETS);
  const verify = (laterMs = 0) =>
    verifyBooks({
      ...{ books, connection: redis.connection, isFull: false, onProgress: () => {} },
      signal: new AbortController().signal,
      clock: { nowMs: () => Date.now() + laterMs },
    });
  const someAccount = (): TestAccount => {
    const [account] = accounts;
    if (account === undefined) throw new Error('there is an account');
    return account;
  };
  const lastEntry = async ({ bucket }: TestAccount): Promise<[string, Buffer[]]> => {
    const { ledger } = keysOfBucket(bucket);
    const { client } = redis.connection;
    const reply = await client.callBuffer('xrevrange', ledger, '+', '-', 'COUNT', '1');
    const [[id, fields]] = reply as [[Buffer, Buffer[]]];
    return [String(id), fields];
  };
  /** Enters a byte-for-byte copy of the last entry, as a script that runs twice would. */
  const copyLastEntry = async (account: TestAccount) => {
    const [, fields] = await lastEntry(account);
    const { ledger } = keysOfBucket(account.bucket);
    await redis.connection.client.callBuffer('xadd', ledger, '*', ...fields);
  };

  it.each([
    ['in the streams', async () => {}],
    ['in the books', enter],
  ])('finds nothing after an honest run %s', async (_, arrange) => {
    const account = someAccount();
    await pay(redis.connection, account, { paymentId: 'back', micros: -500, kind: 'adjustment' });
    await begin(redis.connection, account);
    await arrange();
    await begin(redis.connection, account);
    await serve(redis.connection, account);
    const report = await verify();
    expect(report).toMatchObject({
      ...{ is_clean: true, accounts: 2, key_months: 2, entries: 10, drifts: [], sum_drifts: [] },
      ...{ gaps: 0, repeats: 0, damaged: 0, unsettled: { holds: 0, last_at: null } },
    });
    const fact = await readVerifiedFact(books);
    expect(fact).toEqual({ verified_ms: expect.any(Number), drifts: 0, unsettled: 0 });
  });

  it('finds a balance that was changed, and keeps the result for the metrics', async () => {
    const { bucket, id } = someAccount();
    await enter();
    await redis.connection.send('hincrby', [keysOfBucket(bucket).account(id), 'balance', '1']);
    const report = await verify();
    const expected = 1_000_000_000 - 3 * 700;
    const subject = { account: id, key: null, month: null, what: 'balance_micros' };
    expect(report.is_clean).toBe(false);
    expect(report.drifts).toEqual([{ ...subject, expected, found: expected + 1 }]);
    expect(await readVerifiedFact(books)).toMatchObject({ drifts: 1 });
  });

  it('takes no offence at entries that wait to be compared with the archive', async () => {
    await enter();
    const day = dayOfMs(Date.now()) + 1;
    const archive = JSON.stringify({ rows: 0, held: '0', charged: '0', short: '0' });
    const dropped = { day, state: 'dropped', verified: null, archive, indexes: null } as const;
    await books.db.insertInto('days').values(dropped).execute();
    await serve(redis.connection, someAccount());
    await enter();
    // Else what came in the last minutes is read from there again.
    const [id] = await lastEntry(someAccount());
    await redis.connection.send('xdel', [keysOfBucket(someAccount().bucket).ledger, id]);
    expect(await verify()).toMatchObject({ is_clean: true, drifts: [], doubtful: 1 });
    await books.db.updateTable('doubtful').set({ charged: 1 }).execute();
    const { drifts } = await verify();
    expect(drifts.map(({ what }) => what)).toEqual(['balance_micros', 'spent_micros']);
    await books.db.deleteFrom('doubtful').execute();
    expect((await verify()).drifts).toHaveLength(2);
  });

  it("finds a month's total that was changed, and one that no entry explains", async () => {
    const account = someAccount();
    const { month, end } = await begin(redis.connection, account);
    await end(0);
    await enter();
    const record = keysOfBucket(account.bucket).key(account.keyId);
    await redis.connection.send('hset', [record, `spent:${month}`, '2099', 'spent:203001', '5']);
    const subject = { account: account.id, key: account.keyId, what: 'spent_micros' };
    const { drifts } = await verify();
    expect(drifts).toHaveLength(2);
    expect(drifts).toEqual(
      expect.arrayContaining([
        { ...subject, month, expected: 2_100, found: 2_099 },
        { ...subject, month: '203001', expected: 0, found: 5 },
      ]),
    );
  });

  it('takes no offence at an old month that Redis has let go', async () => {
    const account = someAccount();
    const { month, end } = await begin(redis.connection, account);
    await end(0);
    await enter();
    const record = keysOfBucket(account.bucket).key(account.keyId);
    await redis.connection.send('hdel', [record, `spent:${month}`]);
    expect((await verify()).drifts).toHaveLength(1);
    expect((await verify(95 * 24 * HOUR_MS)).drifts).toEqual([]);
  });

  it.each([
    ['in the stream', async () => {}],
    ['in the books', enter],
  ])('finds a request that was entered twice %s', async (_, arrange) => {
    await copyLastEntry(someAccount());
    await arrange();
    expect(await verify()).toMatchObject({ is_clean: true });
    // Both changed the balance, and the books count one.
    const { bucket, id, keyId } = someAccount();
    const { month, end } = await begin(redis.connection, someAccount());
    await end(0);
    const { account, key } = keysOfBucket(bucket);
    await redis.connection.send('hincrby', [account(id), 'balance', '-700']);
    await redis.connection.send('hincrby', [key(keyId), `spent:${month}`, '700']);
    const { drifts } = await verify();
    expect(drifts.map(({ what, expected, found }) => [what, expected - found])).toEqual([
      ['balance_micros', 700],
      ['spent_micros', -700],
    ]);
  });

  it('finds an entry that was lost before it was read', async () => {
    const account = someAccount();
    const [id] = await lastEntry(account);
    await redis.connection.send('xdel', [keysOfBucket(account.bucket).ledger, id]);
    await enter();
    const { drifts } = await verify();
    expect(drifts.map(({ what, expected, found }) => [what, expected - found])).toEqual([
      ['balance_micros', 700],
      ['spent_micros', -700],
    ]);
  });

  it('counts an event once that a failover took back and that came again', async () => {
    const account = someAccount();
    await enter();
    const [id, fields] = await lastEntry(account);
    const { ledger } = keysOfBucket(account.bucket);
    await redis.connection.send('xdel', [ledger, id]);
    await redis.connection.client.callBuffer('xadd', ledger, '*', ...fields);
    expect(await verify()).toMatchObject({ is_clean: true, entries: 8 });
    await enter();
    expect(await verify()).toMatchObject({ is_clean: true, entries: 8, repeats: 1 });
  });

  it('reads a little before the cursor when the clock of a new master is behind', async () => {
    const account = someAccount();
    const { ledger } = keysOfBucket(account.bucket);
    const { version, cursors } = await readIngestion(books);
    const ahead = new Map(cursors).set(account.bucket, `${Date.now() + 60_000}-0`);
    await enter();
    await books.db
      .updateTable('ingestion')
      .set({ version: version + 2, cursors: JSON.stringify(Object.fromEntries(ahead)) })
      .execute();
    await serve(redis.connection, account);
    expect(await redis.connection.send('xlen', [ledger])).toBe(5);
    expect((await verify()).drifts).toEqual([]);
  });

  it('finds a hold that nobody has', async () => {
    const account = someAccount();
    const request = await begin(redis.connection, account, { heldMicros: 900 });
    await enter();
    const { holds } = keysOfBucket(account.bucket);
    expect((await verify()).is_clean).toBe(true);
    await redis.connection.send('hdel', [holds, request.requestId]);
    const subject = { account: account.id, key: null, month: null, expected: 0 };
    const { keyId: key } = account;
    const { drifts } = await verify();
    expect(drifts).toHaveLength(3);
    expect(drifts).toEqual(
      expect.arrayContaining([
        { ...subject, what: 'held_micros', found: 900 },
        { ...subject, key, month: request.month, what: 'held_micros', found: 900 },
        { ...subject, key, what: 'in_flight', found: 1 },
      ]),
    );
  });

  it('finds charges of an account that is not there', async () => {
    const { bucket, id } = someAccount();
    await enter();
    await redis.connection.send('srem', [keysOfBucket(bucket).accounts, id]);
    expect((await verify()).unknown_accounts).toEqual([
      { account: id, entries: 3, charged_micros: 3 * 700 - 1_000_000_000 },
    ]);
  });

  it('finds what was trimmed before it was read', async () => {
    const { bucket } = someAccount();
    await redis.connection.send('xtrim', [keysOfBucket(bucket).ledger, 'MAXLEN', '1']);
    expect(await verify()).toMatchObject({ is_clean: false, gaps: 1 });
  });

  it('counts what nobody could decode', async () => {
    const account = someAccount();
    const { ledger } = keysOfBucket(account.bucket);
    await redis.connection.send('xadd', [ledger, '*', 'what', 'is', 'this', 'then']);
    expect(await verify()).toMatchObject({ is_clean: false, damaged: 1, drifts: [] });
    await enter();
    expect(await verify()).toMatchObject({ is_clean: false, damaged: 1, drifts: [] });
  });

  it('tells how many holds ran out that nobody settled, once nobody can any more', async () => {
    const account = someAccount();
    const options = { heldMicros: 900, leaseMs: 1 };
    await begin(redis.connection, account, options);
    const late = await begin(redis.connection, account, options);
    const renewed = await begin(redis.connection, account, options);
    const { bucket, id: accountId, keyId } = account;
    const { requestId, month } = renewed;
    const hold = {
      bucket,
      accountId,
      keyId,
      requestId,
      model: 'llm-a',
      month,
      extras: '',
      heldMicros: 900,
      lastKnownMs: Date.now(),
    };
    await renew(redis.connection, hold, { seenMicros: 40, leaseMs: 1 }, DEFAULT_WARNINGS);
    let swept = 0;
    await waitUntil(async () => {
      swept += (await sweep(redis.connection, bucket, 10, DEFAULT_WARNINGS)).swept;
      return swept === 3;
    }, 'the leases have run out');
    await late.end(700);
    await enter();
    expect(await verify()).toMatchObject({ is_clean: true, unsettled: { holds: 0 } });
    // Once while the day is open, once while it is verified, and once from what was kept of it.
    for (const laterMs of [4 * HOUR_MS, 40 * HOUR_MS, 41 * HOUR_MS]) {
      expect((await verify(laterMs)).unsettled).toMatchObject({
        ...{ holds: 2, held_micros: 1_800, charged_micros: 40 },
        last_at: expect.stringMatching(/^\d{4}-/),
      });
    }
  });

  it('finds nothing while requests and ingestion go on', async () => {
    const traffic = new AbortController();
    const serving = accounts.map(async (account) => {
      while (!traffic.signal.aborted) await serve(redis.connection, account);
    });
    const entering = (async () => {
      while (!traffic.signal.aborted) {
        await enter();
        await sleep(1);
      }
    })();
    for (let round = 0; round < 4; round++) {
      expect(await verify()).toMatchObject({ is_clean: true, drifts: [], sum_drifts: [] });
    }
    traffic.abort();
    await Promise.all([...serving, entering]);
    await enter();
    expect(await verify()).toMatchObject({ is_clean: true });
  });
});
