import { beforeEach, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/ledger/verify-ledger.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { renew } from '../../src/quota/scripts/renew.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { begin, createAccount, pay, serve, type TestAccount } from './ledger-scene.ts';
import { useLedgerServer } from './use-ledger-server.ts';

const BUCKETS = [3, 200];

const store = useLedgerServer(BUCKETS);
let dir = '';
let accounts: TestAccount[] = [];

beforeEach(async () => {
  dir = makeTempFolder();
  accounts = [];
  for (const bucket of BUCKETS) accounts.push(await createAccount(store.connection, bucket));
  await Promise.all(
    accounts.flatMap((account) => [1, 2, 3].map(() => serve(store.connection, account))),
  );
});

const verify = (dirs = [dir]) => verifyLedger({ connection: store.connection, dirs });

function someAccount(): TestAccount {
  const [account] = accounts;
  if (account === undefined) throw new Error('there is an account');
  return account;
}

function holdOf({ bucket, id: accountId, keyId }: TestAccount, requestId: string) {
  return { bucket, accountId, keyId, requestId, model: 'llm-a' };
}

async function monthOf(account: TestAccount): Promise<string> {
  const request = await begin(store.connection, account);
  await request.end(0);
  return request.month;
}

/** Enters a byte-for-byte copy of the last entry, as a script that runs twice would. */
async function copyLastEntry({ bucket }: TestAccount): Promise<void> {
  const { ledger } = keysOfBucket(bucket);
  const { client } = store.connection;
  const reply = await client.callBuffer('xrevrange', ledger, '+', '-', 'COUNT', '1');
  const [[, fields]] = reply as [[Buffer, Buffer[]]];
  await client.callBuffer('xadd', ledger, '*', ...fields);
}

async function removeLastEntry({ bucket }: TestAccount): Promise<void> {
  const { ledger } = keysOfBucket(bucket);
  const reply = await store.connection.send('xrevrange', [ledger, '+', '-', 'COUNT', '1']);
  const [[id]] = reply as [[string, string[]]];
  await store.connection.send('xdel', [ledger, id]);
}

describe.each([
  ['that stands in Redis', async () => {}],
  ['that stands in segments', () => store.exportAll(dir)],
  ['that stands in both', () => store.exportAll(dir, { keepMs: 3_600_000 })],
  [
    'of two nodes',
    async () => {
      await store.exportAll(dir, { keepMs: 3_600_000 });
      await store.exportAll(makeTempFolder(), { keepMs: 3_600_000, nodeId: 'b' });
    },
  ],
])('verifying a ledger %s', (_, arrange) => {
  it('finds nothing after an honest run', async () => {
    const account = someAccount();
    await pay(store.connection, account, { paymentId: 'refund', micros: -500, kind: 'refund' });
    await begin(store.connection, account);
    await arrange();
    await begin(store.connection, account);
    await serve(store.connection, account);
    const report = await verify();
    expect(report).toMatchObject({ is_clean: true, accounts: 2, key_months: 2, entries: 10 });
  });

  it('finds a balance that was changed', async () => {
    const { bucket, id } = someAccount();
    await arrange();
    await store.connection.send('hincrby', [keysOfBucket(bucket).account(id), 'balance', '1']);
    const report = await verify();
    const balance = 1_000_000_000 - 3 * 700;
    expect(report.is_clean).toBe(false);
    expect(report.drifts).toEqual([
      {
        account: id,
        key: null,
        month: null,
        what: 'balance_micros',
        expected: balance,
        found: balance + 1,
      },
    ]);
  });

  it("finds a month's total that was changed", async () => {
    const account = someAccount();
    const month = await monthOf(account);
    await arrange();
    const record = keysOfBucket(account.bucket).key(account.keyId);
    await store.connection.send('hincrby', [record, `spent:${month}`, '-1']);
    const report = await verify();
    const subject = { account: account.id, key: account.keyId, month };
    expect(report.drifts).toEqual([
      { ...subject, what: 'spent_micros', expected: 2_100, found: 2_099 },
    ]);
    await store.connection.send('hset', [record, 'spent:203001', '5', `spent:${month}`, '2100']);
    expect((await verify()).drifts).toEqual([
      { ...subject, month: '203001', what: 'spent_micros', expected: 0, found: 5 },
    ]);
  });

  it('finds a request that was entered twice', async () => {
    await copyLastEntry(someAccount());
    await arrange();
    const { drifts, repeated } = await verify();
    expect(repeated).toBe(0);
    expect(drifts.map(({ what, expected, found }) => [what, expected - found])).toEqual([
      ['balance_micros', -700],
      ['spent_micros', 700],
    ]);
  });

  it('finds an entry that was lost', async () => {
    await removeLastEntry(someAccount());
    await arrange();
    const { drifts } = await verify();
    expect(drifts.map(({ what, expected, found }) => [what, expected - found])).toEqual([
      ['balance_micros', 700],
      ['spent_micros', -700],
    ]);
  });

  it('finds a hold that nobody has', async () => {
    const account = someAccount();
    const request = await begin(store.connection, account, { heldMicros: 900 });
    await arrange();
    const { holds } = keysOfBucket(account.bucket);
    expect((await verify()).is_clean).toBe(true);
    await store.connection.send('hdel', [holds, request.requestId]);
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

  it('tells how many holds ran out that nobody settled, once nobody can any more', async () => {
    const { connection } = store;
    const account = someAccount();
    const options = { heldMicros: 900, leaseMs: 1 };
    await begin(connection, account, options);
    const late = await begin(connection, account, options);
    const renewed = await begin(connection, account, options);
    const hold = { ...holdOf(account, renewed.requestId), month: renewed.month, heldMicros: 900 };
    await renew(connection, hold, { seenMicros: 40, leaseMs: 1 });
    let swept = 0;
    await waitUntil(async () => {
      swept += (await sweep(connection, account.bucket, 10)).swept;
      return swept === 3;
    }, 'the leases have run out');
    await late.end(700);
    await arrange();
    const place = { connection, dirs: [dir] };
    const laterMs = Date.now() + 4 * 3_600_000;
    expect((await verifyLedger(place, undefined, laterMs)).unsettled).toMatchObject({
      ...{ holds: 2, held_micros: 1_800, charged_micros: 40 },
      last_at: expect.stringMatching(/^\d{4}-/),
    });
    expect(await verify()).toMatchObject({
      is_clean: true,
      unsettled: { holds: 0, last_at: null },
    });
  });

  it('finds charges of an account that is not there', async () => {
    const { bucket, id } = someAccount();
    await arrange();
    const { accounts: index } = keysOfBucket(bucket);
    await store.connection.send('srem', [index, id]);
    expect((await verify()).unknown_accounts).toEqual([
      { account: id, entries: 4, charged_micros: 3 * 700 - 1_000_000_000 },
    ]);
  });
});
