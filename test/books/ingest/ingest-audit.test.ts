import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuditLog } from '../../../src/accounts/audit/audit-log.ts';
import { splitWords } from '../../../src/books/ingest/names/split-words.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import { AUDIT_KEY } from '../../../src/redis/redis-keys.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { describeBooks } from '../books-scene.ts';
import { createAccount, type TestAccount } from '../stream-scene.ts';
import { useIngestServer } from './ingest-scene.ts';

const store = useIngestServer();

function openAudit() {
  const log = createMemoryLog();
  return createAuditLog({
    ...{ connection: store.connection, randomBytes, clock: { nowMs: () => Date.now() }, log },
  });
}

function makeChange(account: string | null, key: string | null = null) {
  return {
    ...{ what: 'account.change', node: 'n1', account, key, outcome: 'done' as const },
    ...{ who: { via: 'api' as const, token: 't', address: '127.0.0.1', operator: null } },
    ...{ before: { name: 'old' }, after: { name: 'new' } },
  };
}

async function rename({ bucket, id }: TestAccount, name: string): Promise<void> {
  await store.connection.send('hset', [keysOfBucket(bucket).account(id), 'name', name]);
}

describeBooks('the audit log', (scene) => {
  test('is in the books once, also where a failover wrote an entry again', async () => {
    const books = await scene.create();
    const audit = openAudit();
    await audit.add(makeChange('acct_x'));
    await audit.add(makeChange(null));
    const { ingester } = store.start({ books });
    const read = () =>
      books.db.selectFrom('audit').selectAll().orderBy('ms').orderBy('seq').execute();
    await waitUntil(async () => (await read()).length === 2, 'both are there');
    const [first] = await read();
    expect(first).toMatchObject({
      ...{ what: 'account.change', via: 'api', token: 't', node: 'n1', account: 'acct_x' },
      ...{ key: null, outcome: 'done', before: '{"name":"old"}', after: '{"name":"new"}' },
    });
    await store.connection.send('del', [AUDIT_KEY]);
    ingester.noteMasterChange();
    await audit.replayRecentEntries();
    await audit.add(makeChange('acct_y'));
    await waitUntil(async () => (await read()).length === 3, 'the third is there');
    expect(new Set((await read()).map(({ entry }) => entry)).size).toBe(3);
    await audit.close();
  });

  test('goes on behind what the books have, and tells what Redis has dropped', async () => {
    const books = await scene.create();
    const audit = openAudit();
    await audit.add(makeChange('acct_x'));
    const first = store.start({ books });
    const count = async () => (await books.db.selectFrom('audit').selectAll().execute()).length;
    await waitUntil(async () => (await count()) === 1, 'it is there');
    await first.ingester.stop();
    expect(first.log.lines).toEqual([]);
    for (let i = 0; i < 300; i++) await audit.add(makeChange('acct_x'));
    const second = store.start({ books });
    await waitUntil(async () => (await count()) === 301, 'all are there');
    await second.ingester.stop();
    expect(second.log.lines).toEqual([]);
    for (let i = 0; i < 3; i++) await audit.add(makeChange('acct_x'));
    await store.connection.send('xtrim', [AUDIT_KEY, 'MAXLEN', '1']);
    const third = store.start({ books });
    await waitUntil(async () => (await count()) === 302, 'the last one is there');
    expect(third.log.lines).toMatchObject([{ level: 'error' }]);
    await audit.close();
  });

  test('takes what has a time in the future, and what comes after it', async () => {
    const books = await scene.create();
    const future = `${Date.now() + 7_200_000}-0`;
    await store.connection.send('xadd', [AUDIT_KEY, future, 'id', 'x', 'at', '1', 'entry', '{']);
    const audit = openAudit();
    await audit.add(makeChange('acct_x'));
    store.start({ books });
    await waitUntil(async () => {
      return (await books.db.selectFrom('audit').selectAll().execute()).length === 1;
    }, 'it is there');
    expect(await books.db.selectFrom('damaged').selectAll().execute()).toHaveLength(1);
    await audit.close();
  });

  test('keeps an entry that it cannot read', async () => {
    const books = await scene.create();
    await store.connection.send('xadd', [AUDIT_KEY, '*', 'id', 'x', 'at', '1', 'entry', '{']);
    const { log } = store.start({ books });
    await waitUntil(async () => {
      return (await books.db.selectFrom('damaged').selectAll().execute()).length === 1;
    }, 'it is kept');
    expect(log.lines).toMatchObject([{ level: 'error' }]);
  });
});

describeBooks('names', (scene) => {
  test('are copied when a node begins, and again when the audit log tells of a change', async () => {
    const books = await scene.create();
    const [a, b] = [
      await createAccount(store.connection, 3),
      await createAccount(store.connection, 200),
    ];
    await rename(a, 'Müller & Söhne GmbH');
    store.start({ books });
    const readNames = () => books.db.selectFrom('account_names').selectAll().execute();
    const readWords = async ({ id }: TestAccount) =>
      (await books.db.selectFrom('words').select('word').where('account', '=', id).execute()).map(
        ({ word }) => word,
      );
    const readKeys = () => books.db.selectFrom('key_names').selectAll().execute();
    await waitUntil(async () => (await readNames()).length === 2, 'both are there');
    await waitUntil(async () => (await readKeys()).length === 2, 'their keys are there');
    expect(await readNames()).toContainEqual({
      ...{ account: a.id, bucket: 3, name: 'Müller & Söhne GmbH', plan: 'team' },
      ...{ status: 'active', created_ms: 0 },
    });
    expect(await readKeys()).toContainEqual({
      ...{ key: b.keyId, account: b.id, name: '', last4: '', status: 'active' },
    });
    expect((await readWords(a)).sort()).toEqual(
      [a.id.toLowerCase(), 'gmbh', 'müller', 'söhne'].sort(),
    );

    await rename(a, 'Meier');
    const audit = openAudit();
    await audit.add(makeChange(a.id, a.keyId));
    await waitUntil(async () => (await readWords(a)).includes('meier'), 'it has the new name');
    expect((await readWords(a)).sort()).toEqual([a.id.toLowerCase(), 'meier'].sort());
    await audit.close();
  });

  test('that nobody has told of are copied now and then', async () => {
    const books = await scene.create();
    store.start({ books, pace: { namesMs: 50 } });
    const accounts = await Promise.all(
      Array.from({ length: 250 }, () => createAccount(store.connection, 7, 0)),
    );
    const count = async () => (await books.db.selectFrom('key_names').selectAll().execute()).length;
    await waitUntil(async () => (await count()) === accounts.length, 'all are there');
  });
});

test('words are in lower case, of any script, and few', () => {
  expect(splitWords("  ACME-Corp. (Zürich) 2024's ")).toEqual([
    'acme',
    'corp',
    'zürich',
    '2024',
    's',
  ]);
  expect(splitWords('株式会社 東京')).toEqual(['株式会社', '東京']);
  expect(splitWords('...')).toEqual([]);
  expect(splitWords('a b '.repeat(10))).toEqual(['a', 'b']);
  expect(splitWords(Array.from({ length: 99 }, (_, i) => `w${i}`).join(' '))).toHaveLength(20);
  expect(splitWords('x'.repeat(1_000))[0]).toHaveLength(64);
});
