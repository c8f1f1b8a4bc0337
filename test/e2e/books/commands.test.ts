import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openBooks } from '../../../src/books/engine/open-books.ts';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { runHere } from '../../cli/use-cli.ts';
import { admin } from '../../support/clients/admin.ts';
import { askModel, HAIKU, messageOf } from '../../support/clients/ask-model.ts';
import { parseCsv } from '../../support/parse-csv.ts';
import { avoidMidnight } from '../../support/time/avoid-midnight.ts';
import { FAST_CONFIG, useGateway } from '../../support/use-gateway.ts';

const CREDITS = 10;
const REQUESTS = 5;
const gateway = useGateway({ config: FAST_CONFIG });

let account: string;
let keyId: string;
let ids: string[];
let charged: number;

beforeAll(async () => {
  await avoidMidnight(60_000);
  const operator = admin(gateway());
  account = await operator.createAccount({ credits: CREDITS });
  const created = await operator.createKey(account);
  keyId = created.id;
  const bodies = Array.from({ length: REQUESTS }, (_, n) => messageOf(`[[tokens ${n + 3}]]`));
  const answers = await Promise.all(
    bodies.map((body) => askModel(gateway().url, created.key, body)),
  );
  ids = answers.map(({ headers }) => headers.get('request-id') ?? '');
  await operator.waitUntilSettled(account);
  await operator.waitForBooks();
  charged = CREDITS - (await operator.account(account)).balance;
});

async function run(...args: string[]): Promise<string> {
  const token = readFileSync(join(gateway().dataDir, 'admin-token'), 'utf8').trim();
  const env = { TOLLGATE_ADMIN_URL: gateway().opsUrl, TOLLGATE_ADMIN_TOKEN: token };
  const { code, out, err } = await runHere(env, ...args);
  expect([code, err]).toEqual([0, '']);
  return out;
}

const sumOf = (amounts: readonly number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

describe('commands that ask a node about its books', () => {
  it('list requests, and show the receipt of each', async () => {
    const listed = JSON.parse(
      await run('requests', 'list', '--account', account, '--limit', '3', '--json'),
    ) as { id: string }[];
    expect(listed).toHaveLength(3);
    const all = JSON.parse(await run('requests', 'list', '--key', keyId, '--json')) as {
      id: string;
      charged: number;
    }[];
    expect(all.map(({ id }) => id).sort()).toEqual(ids.toSorted());
    expect(sumOf(all.map((request) => request.charged))).toBeCloseTo(charged, 6);
    const count = async (...filter: readonly string[]) => {
      const out = await run('requests', 'list', '--account', account, ...filter, '--json');
      return (JSON.parse(out) as unknown[]).length;
    };
    const dearest = Math.max(...all.map((request) => request.charged));
    expect(await count('--kind', 'charge', '--charged-max', `${dearest}`)).toBe(REQUESTS);
    expect(await count('--charged-min', `${dearest + 1}`)).toBe(0);
    expect(await count('--duration-min', '0', '--duration-max', '3600000')).toBe(REQUESTS);
    for (const name of ['--group', '--end-user']) expect(await count(name, 'nobody')).toBe(0);
    const table = await run('requests', 'list', '--account', account);
    expect(table.trimEnd().split('\n')).toHaveLength(REQUESTS + 1);
    for (const { id, charged: own } of all) {
      const receipt = JSON.parse(await run('requests', 'show', id, '--json')) as object;
      expect(receipt).toMatchObject({ id, account, key: keyId, charged: own, model: HAIKU });
    }
    expect(await run('requests', 'show', ids[0] ?? '')).toContain(ids[0]);
  });

  it('sum up the usage of a model, a group or an end user', async () => {
    const sum = async (...filter: readonly string[]) => {
      const out = await run('usage', '--account', account, ...filter, '--json');
      return (JSON.parse(out) as { total: { requests: number } }).total.requests;
    };
    expect(await sum('--model', HAIKU)).toBe(REQUESTS);
    for (const name of ['--model', '--group', '--end-user', '--upstream']) {
      expect(await sum(name, 'nobody')).toBe(0);
    }
  });

  it('sum up usage as CSV', async () => {
    const csv = await run('usage', '--by', 'account,day', '--account', account, '--csv');
    const [row = {}, ...others] = parseCsv(csv).filter((each) => each['account'] === account);
    expect(others).toEqual([]);
    expect(row['day']).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect([Number(row['requests']), Number(row['charged'])]).toEqual([
      REQUESTS,
      expect.closeTo(charged, 6),
    ]);
  });

  it('print a statement as text, JSON, CSV and a page', async () => {
    const month = new Date().toISOString().slice(0, 'yyyy-mm'.length);
    const args = ['statement', account, '--month', month];
    const statement = JSON.parse(await run(...args, '--json')) as { closing_balance: number };
    expect(statement).toMatchObject({ account, month, paid: CREDITS, is_closed: false });
    expect(statement.closing_balance).toBeCloseTo(CREDITS - charged, 6);
    const text = await run(...args);
    expect(text).toContain(`(${account}), ${month}, so far`);
    expect(text).toContain(String(statement.closing_balance));
    expect(await run(...args, '--csv')).toContain(String(CREDITS));
    expect(await run(...args, '--html')).toMatch(/^<!doctype html>/i);
  });

  it('say in a statement that entries of its month were lost', async () => {
    const month = new Date().toISOString().slice(0, 'yyyy-mm'.length);
    const target = { kind: 'file', dir: join(gateway().dataDir, 'books') } as const;
    const books = openBooks({ target, isReader: false, name: 'test' });
    onTestFinished(() => books.close());
    const bucket = bucketOfAccount(account) ?? -1;
    const lost = { bucket, after: '1-1', until: '2-1', noted_ms: 1 };
    await books.db.insertInto('gaps').values(lost).execute();
    const text = await run('statement', account, '--month', month);
    await books.db.deleteFrom('gaps').execute();
    expect(text).toContain('entries may be missing (gaps: 1, damaged entries: 0)');
  });

  it('tell the state of the books', async () => {
    const status = JSON.parse(await run('books', 'status', '--json')) as object;
    expect(status).toMatchObject({ engine: 'libsql', entries: REQUESTS, gaps: 0, repeats: 0 });
    expect(await run('books', 'status')).toMatch(/engine +libsql/);
  });
});
