import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  encodeLedgerCsv,
  LEDGER_CSV_HEAD,
} from '../../../src/books/questions/entries/encode-ledger-csv.ts';
import { showEntry, showPayment } from '../../../src/books/questions/entries/ledger-entry.ts';
import { listEntries } from '../../../src/books/questions/entries/list-entries.ts';
import type { EntriesQuery } from '../../../src/books/questions/entries/read-pages.ts';
import type { QuestionContext } from '../../../src/books/questions/question.ts';
import { mintAccountId } from '../../../src/keys/account-id.ts';
import { describeBooks, makeEntry, makePayment } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, enter, WANTED } from './questions-scene.ts';

const redis = useRedis();
const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-18T00:00:00Z');

describeBooks('the ledger', (scene) => {
  test('has entries and payments of all days, the oldest first, each once', async () => {
    const context = contextOf(await scene.create(), redis);
    const entries = Array.from({ length: 1_300 }, (_, i) =>
      makeEntry({ ms: START_MS + Math.floor(i / 600) * DAY_MS + (i % 7), bucket: i % 5, seq: i }),
    );
    const payments = Array.from({ length: 600 }, (_, i) =>
      makePayment({ ms: START_MS - DAY_MS + (i % 5) * DAY_MS, bucket: i % 3, seq: 5_000 + i }),
    );
    const refused = makeEntry({ kind: 'refused', bucket: 256, ms: START_MS });
    await enter(context.books, [...entries, refused], payments);

    const places = [...entries, ...payments]
      .sort((a, b) => a.ms - b.ms || a.bucket - b.bucket || a.seq - b.seq)
      .map(({ ms, bucket, seq }) => `${bucket} ${ms}-${seq}`);
    const read = async (query: EntriesQuery) =>
      (await readLines(context, query)).map(({ bucket, id }) => `${bucket} ${id}`);
    expect(await read({})).toEqual(places);
    const msOf = (place: string) => Number(/ (\d+)-/.exec(place)?.[1]);
    const [fromMs, toMs] = [START_MS + 3, START_MS + DAY_MS + 2];
    expect(await read({ fromMs, toMs })).toEqual(
      places.filter((place) => msOf(place) >= fromMs && msOf(place) < toMs),
    );
    expect(await read({ account: 'acct_none' })).toEqual([]);
    expect(await read({ account: `acct_a' or 1=1 --` })).toEqual([]);
    expect(await read({ key: 'key_a' })).toHaveLength(entries.length);
    expect(await read({ fromMs: toMs, toMs: fromMs })).toEqual([]);
  });

  test('tells of an entry and a payment what they are', async () => {
    const context = contextOf(await scene.create(), redis);
    const entry = makeEntry({ group: 'g', end_user: 'u' });
    const bare = makeEntry({ seq: 1, estimated: null, outcome: null, details: null });
    const early = makeEntry({ seq: 2, outcome: null });
    const payment = makePayment({ note: 'paid' });
    await enter(context.books, [entry, bare, early], [payment]);
    const [first, second, third, fourth] = await readLines(context, {});
    expect(first).toEqual({
      ...{ bucket: 7, id: `${entry.ms}-0`, time: '2026-11-20T12:00:00.000Z', kind: 'charge' },
      ...{ request: entry.request, account: 'acct_a', key: 'key_a', model: 'llm-opus-4.7' },
      ...{ month: '202611', held_micros: 900, charged_micros: 500, short_micros: 0 },
      balance_micros: 99_500,
      usage: {
        ...{ input: 10, cache_read: 1, cache_write_5m: 2, cache_write_1h: 3, output: 20 },
        ...{ thinking: 4, searches: 0, estimated: false },
      },
      ...{ note: null, details: 'AQIA', group: 'g', end_user: 'u', upstream: 'main', status: 200 },
      ...{ outcome: 'complete', refusal: null, streamed: true, cost_micros: 300 },
      ...{ started_at: '2026-11-20T11:59:59.200Z', first_event_ms: 200, total_ms: 800 },
    });
    expect([second, third]).toMatchObject([
      { usage: null, details: null },
      { usage: { input: 10 }, details: null },
    ]);
    expect(fourth).toMatchObject({
      ...{ kind: 'topup', request: payment.payment, key: null, model: null, month: null },
      ...{ charged_micros: -1_000_000, balance_micros: 1_000_000, note: 'paid', usage: null },
    });
  });

  test('says in its last line what Redis had lost, in the bucket that is asked for', async () => {
    const context = contextOf(await scene.create(), redis);
    const [account, other] = [mintAccountId(7, randomBytes), mintAccountId(8, randomBytes)];
    await enter(context.books, [makeEntry({ account })]);
    await context.books.db
      .insertInto('gaps')
      .values({ bucket: 7, after: '0-0', until: '5-0', noted_ms: 1 })
      .execute();
    const losses = {
      damaged_lines: 0,
      gaps: 1,
      doubtful: 0,
      archived_days: 0,
      archived_until: null,
    };
    const incomplete = { incomplete: losses };
    expect((await readLines(context, {})).at(-1)).toEqual(incomplete);
    expect((await readLines(context, { account })).at(-1)).toEqual(incomplete);
    expect(await readLines(context, { account: other })).toEqual([]);
  });

  test('ends when nobody reads it any more', async () => {
    const context = contextOf(await scene.create(), redis);
    await enter(
      context.books,
      Array.from({ length: 700 }, (_, seq) => makeEntry({ seq })),
    );
    const leaving = new AbortController();
    const lines = listEntries(context, {}, leaving.signal);
    await lines.next();
    leaving.abort();
    const readRest = async () => {
      for await (const text of lines) expect(text).not.toBe('');
    };
    await expect(readRest()).rejects.toThrow('aborted');
    // Books that are left in the middle can be asked again.
    for await (const text of listEntries(context, {}, WANTED)) {
      expect(text).not.toBe('');
      break;
    }
    expect(await readLines(context, {})).toHaveLength(700);
  });
});

test('a line of CSV has a value for each column, and no formula', () => {
  const columns = LEDGER_CSV_HEAD.split(',').length;
  const entry = encodeLedgerCsv(showEntry(makeEntry({ end_user: '=1+1' })));
  expect(entry.split(',')).toHaveLength(columns);
  expect(entry).toContain(",'=1+1,");
  const payment = encodeLedgerCsv(showPayment(makePayment({ note: '-1, "x"' })));
  expect(payment).toContain(`"'-1, ""x"""`);
  expect(payment).toContain(',-1000000,');
});

async function readLines(context: QuestionContext, query: EntriesQuery) {
  const texts: string[] = [];
  for await (const text of listEntries(context, query, WANTED)) texts.push(text);
  const lines = texts.join('').split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line) as { bucket: number; id: string });
}
