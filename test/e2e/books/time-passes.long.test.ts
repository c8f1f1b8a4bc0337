import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recallFact } from '../../../src/books/engine/facts.ts';
import { openBooks } from '../../../src/books/engine/open-books.ts';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { runProgram } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { verifyLedger } from '../../support/ledger/verify-ledger.ts';
import { createFakeClock } from '../../support/servers/fake-clock.ts';
import { type ClockedRedis, startClockedRedis } from '../../support/servers/start-clocked-redis.ts';
import { type Gateway, startGateway } from '../../support/servers/start-gateway.ts';
import { stopRedisServers } from '../../support/servers/start-redis-server.ts';
import { useCleanUp } from '../../support/use-clean-up.ts';
import { FAST_CONFIG } from '../../support/use-gateway.ts';
import { waitUntil } from '../../support/wait-until.ts';

const DAY_SECONDS = 86_400;
/** Three months at least, so that even Redis forgets the month. */
const DAYS_BACK = 120;
const CREDITS = 10;
const REQUESTS = 4;
/** The archive is looked after every few seconds, and all accounts are gone through in a round. */
const ROUND_MAX_MS = 90_000;

/** Has the entries of the ledger that the node trims. */
const KEPT_KEY = 'test:kept';
const REPEAT_NEWEST = `
  local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
  return redis.call('XADD', KEYS[2], '*', unpack(newest[2]))
`;

const cleanUp = useCleanUp();
let redis: ClockedRedis;
let gateway: Gateway;
let pastMs: number;

const archive = createTempDir(cleanUp);
const settingsOf = (keep: string) =>
  `${FAST_CONFIG}books: {keep: ${keep}, archive: {folder: ${archive}}}\n`;

beforeAll(async () => {
  const clock = createFakeClock(-DAYS_BACK * DAY_SECONDS);
  redis = await startClockedRedis(['--appendonly', 'yes'], clock);
  gateway = await startGateway({
    config: settingsOf('2d'),
    env: { ...clock.env, TOLLGATE_REDIS_URL: `redis://127.0.0.1:${redis.port}` },
    cleanUp,
  });
  pastMs = Date.now() - DAYS_BACK * DAY_SECONDS * 1_000;
});
afterAll(stopRedisServers);

interface Status {
  readonly entries: number;
  readonly repeats: number;
  readonly days: { readonly archived: number };
}

interface Statement {
  readonly is_closed: boolean;
  readonly opening_balance: number;
  readonly closing_balance: number;
  readonly paid: number;
  readonly charged: number;
  readonly total: { readonly requests: number };
}

const sumsOf = ({ opening_balance, closing_balance, paid, charged, total }: Statement) => ({
  ...{ opening_balance, closing_balance, paid, charged, total },
});

const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 'yyyy-mm'.length);

async function createCaller() {
  const operator = admin(gateway);
  const account = await operator.createAccount({ credits: CREDITS });
  const { id: keyId, key } = await operator.createKey(account);
  const statusOf = () => operator.call<Status>('GET', '/books');
  return {
    ...{ operator, account, keyId, statusOf },
    statementOf: (ms: number) =>
      operator.call<Statement>('GET', `/accounts/${account}/statements/${monthOf(ms)}`),
    /** Returns the ids of requests that are in the books. */
    async ask() {
      const before = (await statusOf()).entries;
      const ids: string[] = [];
      for (let n = 0; n < REQUESTS; n++) {
        const answer = await askModel(gateway.url, key, messageOf(`[[tokens ${n + 5}]]`));
        expect(answer.status).toBe(200);
        ids.push(answer.headers.get('request-id') ?? '');
      }
      const isIn = async () => (await statusOf()).entries >= before + REQUESTS;
      await waitUntil(isIn, 'they are in the books');
      return ids;
    },
    ledger: keysOfBucket(bucketOfAccount(account) ?? -1).ledger,
    async spentMonths() {
      const { key: record } = keysOfBucket(bucketOfAccount(account) ?? -1);
      const fields = (await redis.cli('HKEYS', record(keyId))).split('\n');
      return fields.filter((field) => field.startsWith('spent:'));
    },
  };
}

async function readForgotten() {
  const target = { kind: 'file', dir: join(gateway.dataDir, 'books') } as const;
  const books = openBooks({ target, isReader: true, name: 'test' });
  try {
    return await recallFact<{ ended_ms: number }>(books.db, 'forgotten');
  } finally {
    await books.close();
  }
}

describe('a node that runs for months', () => {
  it('closes the month, archives the day, tells where receipts are and forgets counters', async () => {
    const caller = await createCaller();
    const { operator } = caller;
    const [old = ''] = await caller.ask();
    await redis.cli('COPY', caller.ledger, KEPT_KEY);
    const receipt = await operator.call<{ charged: number }>('GET', `/requests/${old}`);
    const monthThen = `spent:${monthOf(pastMs).replace('-', '')}`;
    expect(await caller.spentMonths()).toEqual([monthThen]);
    expect(await caller.statementOf(pastMs)).toMatchObject({ is_closed: false, paid: CREDITS });
    // Soon after the start, and then once a day.
    await waitUntil(
      async () => (await readForgotten()) !== undefined,
      'all keys were gone through',
      ROUND_MAX_MS,
    );
    expect(await caller.spentMonths()).toEqual([monthThen]);

    // What a reload refuses must not change when days leave the books.
    gateway.setConfig(settingsOf('3600d'));
    await expect(operator.call('POST', '/reload')).rejects.toThrow(/books.keep: needs a restart/);
    await redis.setAhead(0);
    await caller.ask();
    await operator.waitForBooks();
    const [then, now] = [await caller.statementOf(pastMs), await caller.statementOf(Date.now())];
    expect(then).toMatchObject({ is_closed: true, opening_balance: 0, paid: CREDITS });
    expect(then.total.requests).toBe(REQUESTS);
    expect(now).toMatchObject({ is_closed: false, opening_balance: then.closing_balance, paid: 0 });
    expect(now.closing_balance).toBe((await operator.account(caller.account)).balance);

    const isArchived = async () => (await caller.statusOf()).days.archived > 0;
    await waitUntil(isArchived, () => `the day is archived: ${gateway.stderr()}`, ROUND_MAX_MS);
    let refusal = '';
    const isGone = async () => {
      const answer = await operator.call('GET', `/requests/${old}`).catch(String);
      if (typeof answer === 'string') refusal = answer;
      return refusal !== '';
    };
    await waitUntil(isGone, 'the day that is archived has left the books', ROUND_MAX_MS);
    expect(refusal).toMatch(/404 .*request_archived/);
    const [, sql = '', from = ''] = /books query \\"(.*?)\\" --from ([\d-]+)/.exec(refusal) ?? [];
    const settings = ['--config', gateway.configPath, '--from', from, '--json'];
    const env = { TOLLGATE_DATA_DIR: gateway.dataDir };
    const { out, err } = await runProgram(env, 'books', 'query', sql, ...settings);
    expect(JSON.parse(out || `"${err}"`)).toMatchObject({
      ...{ request: old, account: caller.account, model: HAIKU, kind: 'charge' },
      charged: Math.round(receipt.charged * 1e6),
    });
    await waitUntil(
      async () => !(await caller.spentMonths()).includes(monthThen),
      'Redis forgets the month',
      ROUND_MAX_MS,
    );
    expect(await caller.spentMonths()).toHaveLength(1);
    const verified = await verifyLedger(gateway, `redis://127.0.0.1:${redis.port}`);
    expect(verified).toMatchObject({ is_clean: true });

    // As after a failover that nobody expected any more: an event comes again, under another id.
    const counted = (await caller.statusOf()).entries;
    await redis.cli('EVAL', REPEAT_NEWEST, '2', KEPT_KEY, caller.ledger);
    const isKnown = async () => {
      const { entries, repeats } = await caller.statusOf();
      // At no time does it count twice.
      expect(entries).toBe(counted);
      return repeats === 1;
    };
    await waitUntil(isKnown, () => `it is known as a repeat: ${gateway.stderr()}`, ROUND_MAX_MS);
    expect(sumsOf(await caller.statementOf(pastMs))).toEqual(sumsOf(then));
    expect(sumsOf(await caller.statementOf(Date.now()))).toEqual(sumsOf(now));
  }, 240_000);
});
