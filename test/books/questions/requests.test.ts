import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import type { EntryRow } from '../../../src/books/engine/tables.ts';
import {
  listRequests,
  type RequestsQuery,
} from '../../../src/books/questions/requests/list-requests.ts';
import type { RequestFilter } from '../../../src/books/questions/requests/request-filter.ts';
import { describeBooks, makeEntry } from '../books-scene.ts';
import { useRedis } from '../use-redis.ts';
import { contextOf, enter, expectLeft, WANTED } from './questions-scene.ts';

const redis = useRedis();
const DAY_MS = 86_400_000;
const START_MS = Date.parse('2026-11-18T00:00:00Z');
const DAYS = 4;
const RUNS = 60;

const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);

/** Few values of each, so that filters match some rows and rows share their milliseconds. */
const entry: fc.Arbitrary<Partial<EntryRow>> = fc
  .record({
    ms: fc.oneof(
      fc.integer({ min: 0, max: DAYS * DAY_MS - 1 }).map((ms) => START_MS + ms),
      pick(START_MS, START_MS + DAY_MS - 1, START_MS + DAY_MS, START_MS + 2 * DAY_MS + 5),
    ),
    seq: pick(0, 1, 7),
    kind: pick<EntryRow['kind']>('charge', 'expired', 'late', 'refused'),
    // All of an account is in one bucket.
    of: pick(
      ...([
        ['acct_a', 3],
        ['acct_a', 3],
        ['acct_b', 0],
        ['acct_c', 255],
        ['acct_d', 256],
      ] as const),
    ),
    key: pick('key_a', 'key_b'),
    group: pick('red', null),
    end_user: pick('ada', null),
    model: pick('m-1', 'm-2'),
    upstream: pick('main', null),
    charged: pick(0, 5, 1_000_000),
    total_ms: pick(10, 2_000, null),
    end: pick<[number | null, string | null]>(
      [200, 'complete'],
      [200, 'failed'],
      [404, 'failed'],
      [503, 'refused'],
      [null, 'left'],
      [null, null],
    ),
  })
  .map(({ end: [status, outcome], of: [account, bucket], ...rest }) => ({
    ...{ ...rest, status, outcome, account, bucket },
  }));

/** Most are absent: of many at once no row would be left. */
const optional = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 5 }, { arbitrary: value, weight: 1 });
const span = (...values: number[]) =>
  fc.record({ min: optional(pick(...values)), max: optional(pick(...values)) });

const filter: fc.Arbitrary<RequestFilter> = fc.record({
  account: optional(pick('acct_a', 'acct_none')),
  key: optional(pick('key_a', 'key_none')),
  group: optional(pick('red')),
  end_user: optional(pick('ada')),
  model: optional(pick('m-1', `m-1' or 1=1 --`)),
  upstream: optional(pick('main')),
  status: optional(pick({ min: 200, max: 200 }, { min: 400, max: 499 }, { min: 500, max: 599 })),
  outcome: optional(pick('complete', 'failed')),
  kind: optional(pick('charge' as const, 'late' as const)),
  fromMs: optional(pick(START_MS, START_MS + DAY_MS, START_MS + DAY_MS + 1)),
  toMs: optional(pick(START_MS + DAY_MS, START_MS + 2 * DAY_MS + 5, START_MS + 9 * DAY_MS)),
  chargedMicros: optional(span(0, 5, 6)),
  durationMs: optional(span(10, 11, 2_000)),
});

describeBooks('the list of requests', (scene) => {
  test('has every row that matches once and in order, whatever the filter and the page', async () => {
    const books = await scene.create();
    const rows = makeRows(fc.sample(entry, { numRuns: 300, seed: 7 }));
    await enter(books, rows);
    await books.db.insertInto('key_names').values(nameKey('key_a', 'acct_a')).execute();

    let several = 0;
    await fc.assert(
      fc.asyncProperty(filter, fc.integer({ min: 1, max: 120 }), async (asked, limit) => {
        const found = await readAll(books, { ...asked, limit });
        expect(found).toEqual(expectedOf(rows, asked));
        if (found.length > 1) several += 1;
      }),
      { numRuns: RUNS, seed: 11 },
    );
    expect(several).toBeGreaterThan(RUNS / 3);
  });

  test('goes on where it was, although a page ends between two days without a row', async () => {
    const books = await scene.create();
    const rows = [0, 40, 300].map((day) => makeEntry({ ms: START_MS + day * DAY_MS }));
    await enter(books, rows);
    expect(await readAll(books, { limit: 1 })).toHaveLength(3);
    expect(await readAll(books, { limit: 1, model: 'none' })).toEqual([]);
  });

  test('tells everything of a row, with the names that are known', async () => {
    const books = await scene.create();
    const row = makeEntry();
    const bare = makeEntry({
      ...{ ms: row.ms - 1, kind: 'expired', key: 'key_b', estimated: null, outcome: null },
      ...{ upstream: null, status: null, streamed: null, cost: null },
      ...{ started_ms: null, first_ms: null, total_ms: null },
    });
    await enter(books, [row, bare]);
    await books.db
      .insertInto('account_names')
      .values({
        ...{ account: 'acct_a', bucket: 7, name: 'Acme', plan: 'pro', status: 'active' },
        created_ms: 0,
      })
      .execute();
    await books.db.insertInto('key_names').values(nameKey('key_a', 'acct_a')).execute();

    const page = await listRequests(contextOf(books, redis), { limit: 5 }, WANTED);

    expect(page).toEqual({
      data: [
        {
          ...{ id: row.request, time: '2026-11-20T12:00:00.000Z' },
          ...{ account: 'acct_a', account_name: 'Acme', key: 'key_a', key_name: 'of key_a' },
          ...{ model: 'llm-opus-4.7', upstream: 'main', kind: 'charge', status: 200 },
          ...{ outcome: 'complete', refusal: null, streamed: true },
          tokens: {
            ...{ input: 10, cache_read: 1, cache_write_5m: 2, cache_write_1h: 3 },
            ...{ output: 20, thinking: 4 },
          },
          ...{ searches: 0, estimated: false, held: 0.0009, charged: 0.0005, short: 0 },
          ...{ cost: 0.0003, started_at: '2026-11-20T11:59:59.200Z' },
          ...{ first_event_ms: 200, total_ms: 800 },
        },
        expect.objectContaining({
          ...{ id: bare.request, kind: 'expired', key: 'key_b', key_name: null, tokens: null },
          ...{ upstream: null, status: null, streamed: null, estimated: null, cost: null },
          ...{ started_at: null, first_event_ms: null, total_ms: null },
        }),
      ],
      next: null,
      looked_back_to: null,
      books_until: null,
    });
  });

  test('refuses a cursor that is none, or of another list', async () => {
    const context = contextOf(await scene.create(), redis);
    const cursors = [
      '',
      'x',
      'r1.2',
      'r1.2.3.4',
      'a1.2.3',
      'r-1.2.3',
      'r1.2.z0z0z0z0z0z0z0',
      'r01.1.1',
    ];
    for (const before of [...cursors, "r1.2.3'", '9'.repeat(100_000)]) {
      const asking = listRequests(context, { limit: 1, before }, WANTED);
      await expect(asking, before.slice(0, 20)).rejects.toMatchObject({ code: 'invalid_cursor' });
    }
  });

  test('takes texts as texts', async () => {
    const books = await scene.create();
    await enter(books, [makeEntry({ model: `o'"; drop table days; --%_` })]);
    for (const model of [`o'"; drop table days; --%_`, `' or '1'='1`, '%', '\\', '$1', '?']) {
      const found = await readAll(books, { model, account: 'acct_a', limit: 3 });
      expect(found.length, model).toBe(model.startsWith('o') ? 1 : 0);
    }
  });

  test('ends when nobody waits for it any more', async () => {
    const books = await scene.create();
    await enter(
      books,
      Array.from({ length: 40 }, (_, day) => makeEntry({ ms: START_MS + day * DAY_MS })),
    );
    await expectLeft(books, 4, (read, signal) =>
      listRequests(contextOf(read, redis), { limit: 1_000 }, signal),
    );
  });

  async function readAll(books: Books, query: RequestsQuery): Promise<string[]> {
    const found: string[] = [];
    let before: string | undefined;
    do {
      const page = await listRequests(contextOf(books, redis), { ...query, before }, WANTED);
      expect(page.data.length).toBeLessThanOrEqual(query.limit);
      found.push(...page.data.map(({ id, kind, account }) => `${id} ${kind} ${account}`));
      before = page.next ?? undefined;
    } while (before !== undefined);
    return found;
  }
});

/** Each at a place of its own. */
function makeRows(parts: readonly Partial<EntryRow>[]): EntryRow[] {
  const rows = new Map<string, EntryRow>();
  for (const part of parts) {
    const row = makeEntry(part);
    rows.set(`${row.ms} ${row.bucket} ${row.seq}`, row);
  }
  return [...rows.values()];
}

function nameKey(key: string, account: string) {
  return { key, account, name: `of ${key}`, last4: 'abcd', status: 'active' };
}

/** By the words of the interface, without any index. */
function expectedOf(rows: readonly EntryRow[], filter: RequestFilter): string[] {
  const account = filter.account ?? (filter.key === 'key_a' ? 'acct_a' : undefined);
  const isIn = (
    value: number | null,
    { min, max }: { min?: number | undefined; max?: number | undefined } = {},
  ) =>
    (min === undefined || (value !== null && value >= min)) &&
    (max === undefined || (value !== null && value <= max));
  const isEqual = (value: unknown, wanted: unknown) => wanted === undefined || value === wanted;
  return rows
    .filter(
      (row) =>
        isEqual(row.account, account) &&
        isEqual(row.key, filter.key) &&
        isEqual(row.group, filter.group) &&
        isEqual(row.end_user, filter.end_user) &&
        isEqual(row.model, filter.model) &&
        isEqual(row.upstream, filter.upstream) &&
        isEqual(row.outcome, filter.outcome) &&
        isEqual(row.kind, filter.kind) &&
        isIn(row.status, filter.status) &&
        isIn(row.charged, filter.chargedMicros) &&
        isIn(row.total_ms, filter.durationMs) &&
        row.ms >= (filter.fromMs ?? 0) &&
        row.ms < (filter.toMs ?? Number.POSITIVE_INFINITY),
    )
    .sort((a, b) => b.ms - a.ms || b.bucket - a.bucket || b.seq - a.seq)
    .map((row) => `${row.request} ${row.kind} ${row.account}`);
}
