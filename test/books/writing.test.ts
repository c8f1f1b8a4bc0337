import { randomBytes } from 'node:crypto';
import type { KyselyPlugin } from 'kysely';
import { expect, test } from 'vitest';
import { entriesOf, msOfDay } from '../../src/books/engine/days.ts';
import { readIngestion, StaleBatchError, writeBatch } from '../../src/books/writing/write-batch.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { describeBooks, makeEntry, makePayment } from './books-scene.ts';

const context = { isLost: async () => false, nowMs: Date.now() };
const DAY = 20_777;
const mintRequestId = createRequestIdMint(randomBytes);

describeBooks('what is written', (scene) => {
  test('a batch is entries, rollups and cursors at once', async () => {
    const books = await scene.create();
    const { version } = await readIngestion(books);
    const cursors = new Map([[7, '5-0']]);
    const entries = [makeEntry(), makeEntry({ seq: 1, kind: 'release', charged: 0 })];
    const batch = { version, cursors, entries, payments: [makePayment()], damaged: [], gaps: [] };

    const entered = await writeBatch(books, batch, context);

    expect(entered).toEqual({ entries: 2, payments: 1, repeats: [] });
    expect(await readIngestion(books)).toMatchObject({ version: version + 1, cursors });
    const stored = await books.db.selectFrom(entriesOf(DAY)).selectAll().orderBy('seq').execute();
    expect(stored).toEqual(entries);
    const [day] = await books.db.selectFrom('usage_days').selectAll().execute();
    expect(day).toMatchObject({ day: DAY, entries: 2, requests: 2, charged: 500, cost: 600 });
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toEqual({ account: 'acct_a', bucket: 7, entries: 2, charged: 500, paid: 1e6 });
  });

  test('what is written twice counts once', async () => {
    const books = await scene.create();
    const first = await readIngestion(books);
    const entries = [makeEntry(), makeEntry({ seq: 1 })];
    const payments = [makePayment()];
    const rest = { cursors: new Map(), damaged: [], gaps: [] };
    await writeBatch(books, { ...rest, version: first.version, entries, payments }, context);
    const { version } = await readIngestion(books);

    const again = await writeBatch(books, { ...rest, version, entries, payments }, context);

    expect(again).toEqual({ entries: 0, payments: 0, repeats: [] });
    const hours = await books.db.selectFrom('fleet_hours').selectAll().execute();
    expect(hours).toHaveLength(1);
    expect(hours[0]).toMatchObject({ entries: 2, charged: 1_000 });
  });

  test('what the books have already is looked up in few questions', async () => {
    const books = await scene.create();
    const entries = Array.from({ length: 500 }, (_, seq) => {
      return makeEntry({ seq, ms: msOfDay(DAY) + seq, request: `req_${seq}` });
    });
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    await writeBatch(books, { ...rest, version: 0, entries }, context);
    let asked = 0;
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        asked++;
        return node;
      },
      transformResult: async ({ result }) => result,
    };
    const counted = { ...books, db: books.db.withPlugin(counting) };

    const again = await writeBatch(counted, { ...rest, version: 1, entries }, context);

    expect(again.entries).toBe(0);
    expect(asked).toBeLessThan(20);
  });

  test('what comes twice in one batch counts once', async () => {
    const books = await scene.create();
    const payment = makePayment();
    const payments = [payment, { ...payment, seq: 10 }];
    const rest = { cursors: new Map(), entries: [], damaged: [], gaps: [] };

    await writeBatch(books, { ...rest, version: 0, payments }, context);

    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ paid: payment.amount });
  });

  test('of two that write the same version one is refused and writes nothing', async () => {
    const books = await scene.create();
    const { version } = await readIngestion(books);
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    await writeBatch(books, { ...rest, version, entries: [makeEntry()] }, context);

    const late = writeBatch(books, { ...rest, version, entries: [makeEntry({ seq: 1 })] }, context);

    await expect(late).rejects.toThrow(StaleBatchError);
    expect(await books.db.selectFrom(entriesOf(DAY)).select('seq').execute()).toEqual([{ seq: 0 }]);
  });

  test('an event that Redis lost gives way to the one that took its place', async () => {
    const books = await scene.create();
    const lost = makeEntry({ charged: 500 });
    const again = makeEntry({ ...lost, ms: lost.ms + 90_000_000, charged: 300 });
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    await writeBatch(books, { ...rest, version: 0, entries: [lost] }, context);

    const isLost = async () => true;
    await writeBatch(books, { ...rest, version: 1, entries: [again] }, { ...context, isLost });

    expect(await books.db.selectFrom(entriesOf(DAY)).selectAll().execute()).toEqual([]);
    expect(
      await books.db
        .selectFrom(entriesOf(DAY + 1))
        .selectAll()
        .execute(),
    ).toEqual([again]);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 1, charged: 300 });
  });

  test('a charge lost before midnight, whose request came after it by its node, gives way', async () => {
    const books = await scene.create();
    const midnightMs = msOfDay(DAY);
    const request = mintRequestId(midnightMs + 200);
    const lost = makeEntry({ request, ms: midnightMs - 100 });
    const again = makeEntry({ request, ms: midnightMs + 3_000 });
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    const isLost = async ({ ms }: { ms: number }) => ms === lost.ms;
    await writeBatch(books, { ...rest, version: 0, entries: [lost] }, context);

    const batch = { ...rest, version: 1, entries: [again] };
    const { repeats } = await writeBatch(books, batch, { ...context, isLost });

    expect(repeats).toMatchObject([{ ms: lost.ms, fate: 'replaced' }]);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 1, charged: 500 });
  });

  test('a charge that Redis lost with its hold gives way to the one that was made again', async () => {
    const books = await scene.create();
    const lost = makeEntry({ charged: 500 });
    const orphan = makeEntry({ ...lost, kind: 'orphan', ms: lost.ms + 7_000, seq: 3 });
    const other = makeEntry({ seq: 1, request: 'req_other', charged: 40 });
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    const isLost = async ({ seq }: { seq: number }) => seq === lost.seq;
    await writeBatch(books, { ...rest, version: 0, entries: [lost, other] }, context);

    const batch = { ...rest, version: 1, entries: [orphan] };
    const { repeats } = await writeBatch(books, batch, { ...context, isLost });

    expect(repeats).toMatchObject([{ kind: 'charge', fate: 'replaced', charged: 500 }]);
    const stored = await books.db.selectFrom(entriesOf(DAY)).selectAll().orderBy('ms').execute();
    expect(stored).toEqual([other, orphan]);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 2, charged: 540 });

    // As a node that was cut off, and wrote late what the master of its side had.
    const late = await writeBatch(
      books,
      { ...rest, version: 2, entries: [lost] },
      { ...context, isLost },
    );
    expect(late.repeats).toMatchObject([{ kind: 'charge', fate: 'replaced' }]);
    const [again] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(again).toMatchObject({ entries: 2, charged: 540 });
  });

  test.each([
    ['charge', 'expired'],
    ['expired', 'charge'],
    ['late', 'expired'],
    ['orphan', 'release'],
  ] as const)('a lost %s gives way to another end of its request, %s', async (lostKind, kind) => {
    const books = await scene.create();
    const lost = makeEntry({ kind: lostKind, charged: 500 });
    const entry = makeEntry({ ...lost, kind, ms: lost.ms + 60_000, seq: 3, charged: 20 });
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    const isLost = async ({ seq }: { seq: number }) => seq === lost.seq;
    await writeBatch(books, { ...rest, version: 0, entries: [lost] }, context);
    await writeBatch(books, { ...rest, version: 1, entries: [entry] }, { ...context, isLost });

    const stored = await books.db.selectFrom(entriesOf(DAY)).selectAll().execute();
    expect(stored).toEqual([entry]);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 1, charged: 20 });
  });

  test.each([1, 2])(
    'a hold that ran out and its late end count both, in %i batches',
    async (batches) => {
      const books = await scene.create();
      const expired = makeEntry({ kind: 'expired', charged: 200 });
      const late = makeEntry({ ...expired, kind: 'late', ms: expired.ms + 5_000, charged: 300 });
      const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
      const parts = batches === 1 ? [[expired, late]] : [[expired], [late], [expired, late]];
      for (const [version, entries] of parts.entries()) {
        const { repeats } = await writeBatch(books, { ...rest, version, entries }, context);
        expect(repeats).toEqual([]);
      }
      const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
      expect(total).toMatchObject({ entries: 2, charged: 500 });
    },
  );

  test('an event that Redis has twice is noted and counts once', async () => {
    const books = await scene.create();
    const first = makeEntry();
    const rest = { cursors: new Map(), payments: [], damaged: [], gaps: [] };
    await writeBatch(books, { ...rest, version: 0, entries: [first] }, context);

    const second = makeEntry({ ...first, seq: 5 });
    const { repeats } = await writeBatch(
      books,
      { ...rest, version: 1, entries: [second] },
      context,
    );

    expect(repeats).toMatchObject([{ seq: 5, fate: 'second' }]);
    const [total] = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(total).toMatchObject({ entries: 1, charged: 500 });
  });
});
