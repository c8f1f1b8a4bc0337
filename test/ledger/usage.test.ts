import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLedgerDesk } from '../../src/ledger/create-ledger-desk.ts';
import { type LedgerEntry, parseLedgerLine } from '../../src/ledger/ledger-entry.ts';
import type { UsageQuery } from '../../src/ledger/sum-usage.ts';
import { parseCredits } from '../../src/lib/units/micros.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import { makeTempFolder } from '../support/servers/start-redis-server.ts';
import { begin, createAccount, pay, serve, type TestAccount } from './ledger-scene.ts';
import { useLedgerServer } from './use-ledger-server.ts';

const BUCKETS = [3, 4, 200];
const PAID_MICROS = 1_000_000_000;
const ledger = useLedgerServer(BUCKETS);

const ALL = { account: undefined, key: undefined, fromMs: undefined, toMs: undefined };

interface Sums {
  readonly requests: number;
  readonly charged: number;
  readonly short: number;
  readonly tokens: Readonly<Record<string, number>>;
}
type Row = Sums & Readonly<Record<'day' | 'model' | 'account' | 'key', string>>;

function open(dir = makeTempFolder()) {
  const desk = createLedgerDesk({ connection: ledger.connection, dirs: [dir] });
  return {
    dir,
    async usage(query: Partial<UsageQuery> = {}) {
      const report = await desk.sumUsage({ ...ALL, by: 'day', ...query });
      return { ...report, data: report.data as readonly Row[], total: report.total as Sums };
    },
    async entries(): Promise<LedgerEntry[]> {
      let text = '';
      for await (const lines of desk.listEntries(ALL)) text += lines;
      return text.split('\n').filter(Boolean).map(parseLedgerLine);
    },
  };
}

async function balanceOf({ bucket, id }: TestAccount): Promise<number> {
  const record = keysOfBucket(bucket).account(id);
  return Number(await ledger.connection.send('hget', [record, 'balance']));
}

const microsOf = (credits: number) => parseCredits(credits) ?? Number.NaN;
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

interface Order {
  readonly account: number;
  readonly micros: number;
  readonly isExported: boolean;
  readonly payment: number | null;
}

/**
 * Makes requests and payments of some accounts. Meanwhile some of the entries are exported and
 * trimmed.
 */
async function carryOut(orders: readonly Order[], dir: string): Promise<TestAccount[]> {
  const accounts: TestAccount[] = [];
  for (const bucket of BUCKETS) accounts.push(await createAccount(ledger.connection, bucket));
  for (const [i, { account, micros, isExported, payment }] of orders.entries()) {
    const payer = accounts[account];
    if (payer === undefined) continue;
    await serve(ledger.connection, payer, micros);
    if (payment !== null) {
      await pay(ledger.connection, payer, { paymentId: `p${i}`, micros: payment });
    }
    if (isExported) await ledger.exportAll(dir, { keepMs: i % 2 === 0 ? 0 : 86_400_000 });
  }
  return accounts;
}

describe('usage', () => {
  it('equals the ledger and the balances to the last micro-credit, wherever entries are', async () => {
    const work = fc.array(
      fc.record({
        account: fc.nat(2),
        micros: fc.integer({ min: 0, max: 999_999 }),
        isExported: fc.boolean(),
        payment: fc.option(fc.integer({ min: 1, max: 999_999 })),
      }),
      { minLength: 1, maxLength: 12 },
    );
    const check = async (orders: readonly Order[]) => {
      await ledger.server.cli('flushall');
      const { dir, usage, entries } = open();
      const accounts = await carryOut(orders, dir);
      const charges = (await entries()).filter(({ kind }) => kind !== 'topup');
      const charged = sumOf(charges.map((entry) => entry.charged_micros));
      const balances = await Promise.all(accounts.map(balanceOf));
      for (const by of ['day', 'model', 'key'] as const) {
        const { data, total, paid, is_complete: isComplete } = await usage({ by });
        expect(isComplete).toBe(true);
        expect(total.requests).toBe(orders.length);
        expect(microsOf(total.charged)).toBe(charged);
        expect(sumOf(data.map((row) => microsOf(row.charged)))).toBe(charged);
        expect(microsOf(paid ?? Number.NaN) - charged).toBe(sumOf(balances));
      }
      for (const [i, { id }] of accounts.entries()) {
        const { total, paid } = await usage({ account: id });
        expect(microsOf(paid ?? Number.NaN) - microsOf(total.charged)).toBe(balances[i]);
      }
    };
    await fc.assert(fc.asyncProperty(work, check), { numRuns: 8 });
  });

  it('has a row for each key, with its account, its tokens and what fell short', async () => {
    const account = await createAccount(ledger.connection, 3, 1_000);
    const other = await createAccount(ledger.connection, 200);
    await serve(ledger.connection, account, 5_000);
    await serve(ledger.connection, other, 70);
    const { data } = await open().usage({ by: 'key' });
    expect(data.map((row) => [row.account, row.key]).toSorted()).toEqual(
      [account, other].map(({ id, keyId }) => [id, keyId]).toSorted(),
    );
    const row = data.find(({ key }) => key === account.keyId);
    expect(row).toMatchObject({
      requests: 1,
      estimated: 1,
      charged: 0.001,
      short: 0.004,
      tokens: { input: 11, cache_read: 22, cache_write_5m: 33, cache_write_1h: 44, output: 200 },
    });
    expect((await open().usage({ key: other.keyId })).total).toMatchObject({ charged: 0.00007 });
  });

  it('counts a request once that was charged twice, when its lease ran out and late', async () => {
    const account = await createAccount(ledger.connection, 3);
    const { requestId, end } = await begin(ledger.connection, account);
    await ledger.connection.send('zadd', [keysOfBucket(3).renewals, '0', requestId]);
    await sweep(ledger.connection, 3, 10);
    await end(700);
    expect((await open().usage()).total).toMatchObject({ requests: 1, charged: 0.0007 });
  });

  it('has the entries from one moment until before another', async () => {
    const { usage, entries } = open();
    const account = await createAccount(ledger.connection, 3);
    await serve(ledger.connection, account, 10);
    const [payment, charge] = (await entries()).map(({ id }) => Number.parseInt(id, 10));
    const ms = Math.max(payment ?? 0, charge ?? 0);
    expect((await usage({ fromMs: ms, toMs: ms + 1 })).total.charged).toBe(0.00001);
    expect((await usage({ toMs: ms })).total.charged).toBe(0);
    expect((await usage({ fromMs: ms + 1 })).total.charged).toBe(0);
    expect((await usage()).paid).toBe(PAID_MICROS / 1e6);
  });

  it('says so when a part of the ledger is nowhere to be found', async () => {
    const account = await createAccount(ledger.connection, 3);
    await serve(ledger.connection, account);
    await serve(ledger.connection, account);
    await ledger.exportAll(makeTempFolder());
    expect(await open().usage()).toMatchObject({ is_complete: false });
  });
});
