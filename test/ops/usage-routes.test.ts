import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROWS_HELD_MAX } from '../../src/books/questions/row-budget.ts';
import { statementAnswer, usageAnswer } from '../../src/ops/schemas/usage-schemas.ts';
import { makeEntry, makePayment } from '../books/books-scene.ts';
import { enter } from '../books/questions/questions-scene.ts';
import { parseCsv } from '../support/parse-csv.ts';
import { closeConnections } from '../support/servers/redis-connection.ts';
import { startRedisServer, stopRedisServers } from '../support/servers/start-redis-server.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';
import { errorOf, startTestOps, type TestOps } from './start-test-ops.ts';

/** More than a page of anything has. */
const MODELS = 150;
afterAll(async () => {
  await closeConnections();
  await stopRedisServers();
});
const cleanUp = useCleanUp();

let ops: TestOps;
let account: string;

beforeAll(async () => {
  ops = await startTestOps(await startRedisServer(), cleanUp);
  const { body } = await ops.call('POST', '/accounts', { name: 'Acme', plan: 'pro' });
  account = String(body['id']);
  const entries = Array.from({ length: MODELS }, (_, i) =>
    makeEntry({ account, seq: i, model: `m-${i}`, charged: i * 1_000_000 }),
  );
  await enter(ops.books, entries, [makePayment({ account })]);
});
async function fetchText(path: string) {
  const headers = { authorization: `Bearer ${ops.token.reveal()}` };
  const response = await fetch(`${ops.url}/admin/v1${path}`, { headers });
  return { headers: response.headers, text: await response.text() };
}

describe('usage in the admin API', () => {
  it('has all rows unless a limit is asked for', async () => {
    const all = await ops.call('GET', `/usage?by=day,model&account=${account}`);
    expect(all.body).toMatchObject({ by: ['day', 'model'], account, paid: 1, key: null });
    expect(usageAnswer.safeParse(all.body).error).toBeUndefined();
    expect(all.body['data']).toHaveLength(MODELS);
    expect(all.body['data']).toContainEqual(
      expect.objectContaining({ day: '2026-11-20', model: 'm-7', requests: 1, charged: 7 }),
    );

    const top = await ops.call('GET', '/usage?by=model&order=charged&limit=2');
    expect(top.body['data']).toMatchObject([{ model: 'm-149' }, { model: 'm-148' }]);
    expect(top.body['total']).toMatchObject({ requests: MODELS });
  });

  it('is a row for each day where nothing else is asked for', async () => {
    const { body } = await ops.call('GET', '/usage');
    expect(body).toMatchObject({ by: ['day'], data: [{ day: '2026-11-20', requests: MODELS }] });
  });

  it('is a file of CSV if it is asked for', async () => {
    const { headers, text } = await fetchText('/usage?by=model&format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
    expect(parseCsv(text)).toHaveLength(MODELS);
  });

  it.each([
    ['by=hours'],
    ['by=day,day'],
    ['by=day,model,key'],
    ['by='],
    ['order=requests'],
    ['limit=0'],
    ['from=2026-11-02&to=2026-11-01'],
    ['format=xlsx'],
  ])('refuses %s, and says which field is wrong', async (query) => {
    const refused = await ops.call('GET', `/usage?${query}`);
    expect(refused.status).toBe(400);
    expect(errorOf(refused)).toMatchObject({ code: 'invalid_request' });
  });

  it.each([
    ['account=acct_000000000000', 'account_not_found'],
    ['key=key_000000000000', 'key_not_found'],
  ])('of %s is refused, since there is none', async (query, code) => {
    const refused = await ops.call('GET', `/usage?${query}`);
    expect([refused.status, errorOf(refused).code]).toEqual([404, code]);
  });
});

describe('questions that keep many rows in memory', () => {
  const others = () => ops.rowBudget.open();
  const paths = () => [
    '/usage?by=model',
    '/usage?by=model&format=csv',
    '/usage?by=key,model&order=charged&limit=3',
    `/accounts/${account}/statements/2026-11`,
    `/accounts/${account}/statements/2026-11?format=csv`,
  ];

  it('are refused while others keep the rest, and answered once those have ended', async () => {
    const large = others();
    large.add(ROWS_HELD_MAX - MODELS + 1);
    const many = Array.from({ length: 4 }, paths).flat();
    for (const refused of await Promise.all(many.map((path) => ops.call('GET', path)))) {
      expect([refused.status, errorOf(refused).code]).toEqual([503, 'books_busy']);
      expect(refused.headers.get('retry-after')).toBe('2');
    }
    expect((await ops.call('GET', '/usage?by=day')).status).toBe(200);
    expect(large.room()).toBe(Number.POSITIVE_INFINITY);
    large.end();
    const texts = await Promise.all(many.map(fetchText));
    expect(texts.filter(({ text }) => text.includes('"error"'))).toEqual([]);
    expect(others().room()).toBe(Number.POSITIVE_INFINITY);
  });

  it('take what they need when nobody else asks, and leave nothing when their client left', async () => {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${ops.token.reveal()}` };
    const url = `${ops.url}/admin/v1/usage?by=model`;
    const asked = Array.from({ length: 20 }, () =>
      fetch(url, { headers, signal: leaving.signal }).catch(() => undefined),
    );
    await Promise.race(asked);
    leaving.abort();
    await Promise.all(asked);
    await waitUntil(() => others().room() === Number.POSITIVE_INFINITY, 'nothing is counted');
    expect((await ops.call('GET', '/usage?by=model')).body['data']).toHaveLength(MODELS);
  });
});

describe('statements in the admin API', () => {
  it('are JSON, a file of CSV or a page', async () => {
    const path = `/accounts/${account}/statements/2026-11`;
    const { body } = await ops.call('GET', path);
    expect(statementAnswer.safeParse(body).error).toBeUndefined();
    const charged = (MODELS * (MODELS - 1)) / 2;
    const balances = { opening_balance: 0, closing_balance: 1 - charged };
    expect(body).toMatchObject({ account, month: '2026-11', paid: 1, charged, ...balances });

    const csv = await fetchText(`${path}?format=csv`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const fileName = `statement-${account}-2026-11.csv`;
    expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="${fileName}"`);
    expect(parseCsv(csv.text).filter(({ line }) => line === 'model')).toHaveLength(MODELS);

    const page = await fetchText(`${path}?format=html`);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.text).toMatch(/^<!doctype html>.*<\/html>\s*$/s);
  });

  it('are refused of a month that is none, and of an account that is none', async () => {
    const noMonth = await ops.call('GET', `/accounts/${account}/statements/2026-13`);
    expect([noMonth.status, errorOf(noMonth).code]).toEqual([400, 'invalid_month']);
    const noAccount = await ops.call('GET', '/accounts/acct_000000000000/statements/2026-11');
    expect([noAccount.status, errorOf(noAccount).code]).toEqual([404, 'account_not_found']);
  });
});
