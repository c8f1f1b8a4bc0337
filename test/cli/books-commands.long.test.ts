import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { closeMonth } from '../../src/books/duties/close-month.ts';
import { findBooksId } from '../../src/books/engine/find-books.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { readVerifiedFact } from '../../src/books/verify/verified-fact.ts';
import { readIngestion } from '../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { AUDIT_KEY, BOOKS_KEYS } from '../../src/redis/redis-keys.ts';
import { describeBooks, makeEntry } from '../books/books-scene.ts';
import { replayRedis, SEGMENTS } from '../books/import/replay-redis.ts';
import { begin, createAccount } from '../books/stream-scene.ts';
import { useRedis } from '../books/use-redis.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { runHere } from './use-cli.ts';

const ACCOUNT = 'acct_03JqBCkVG9TX';
const FOLDERS = [join(SEGMENTS, 'a'), join(SEGMENTS, 'b')];

describeBooks('commands that open the books', (scene) => {
  const redis = useRedis();
  let dataDir = '';
  let configPath = '';
  let target: BooksTarget;

  beforeEach(async () => {
    dataDir = createTempDir();
    configPath = join(dataDir, 't.yaml');
    const created = await scene.createTarget();
    target = created.kind === 'file' ? { kind: 'file', dir: join(dataDir, 'books') } : created;
    const books = created.kind === 'file' ? '' : `books: {url: "${created.url}"}\n`;
    writeFileSync(configPath, `data_dir: ${dataDir}\n${books}`);
    // The place where a node has the socket of its own server.
    symlinkSync(redis.server.socketPath, join(dataDir, 'redis.sock'));
    await replayRedis(redis.connection);
  });

  const run = (...args: string[]) => runHere({}, ...args, '--config', configPath);
  const claimAt = (url: string) => {
    writeFileSync(configPath, `${readFileSync(configPath, 'utf8')}redis: {url: "${url}"}\n`);
    return run('books', 'claim');
  };
  const verify = (...args: string[]) => run('ledger', 'verify', ...args);

  it('import segments once, and find that all agree', async () => {
    const { code, out } = await run('books', 'import', ...FOLDERS);
    expect(out.split('\n')).toEqual([
      'segments: 4, lines read: 38, entries: 9, payments: 3, known before: 26',
      'tollgate ledger verify compares the books with Redis.',
      '',
    ]);
    expect(code).toBe(0);
    const again = await run('books', 'import', ...FOLDERS, '--json');
    expect(JSON.parse(again.out)).toMatchObject({ files: 4, lines: 0, gaps: 0, damaged: [] });
    const verified = await verify();
    expect(verified.out.split('\n')).toEqual([
      expect.stringMatching(/^entries: 14, accounts: 2, months of keys: 2, days: 1/),
      'repeated  1 events that came under two ids',
      'The ledger and Redis agree.',
      '',
    ]);
    expect([verified.code, verified.err]).toEqual([0, '']);
  });

  it('export the ledger, and fail when entries are in the archive, set aside or damaged', async () => {
    expect((await run('books', 'import', ...FOLDERS)).code).toBe(0);
    expect((await run('ledger', 'export')).code).toBe(0);
    const books = openBooks({ target, isReader: false, name: 'test' });
    const noDetails = { verified: null, indexes: null, archive: '{}' };
    await books.db
      .insertInto('days')
      .values({ day: 1, state: 'dropped', ...noDetails })
      .execute();
    const archived = await run('ledger', 'export');
    expect(archived.err).toContain('the entries of 1 days until 1970-01-02 are in the archive');
    expect(archived.code).toBe(1);
    await books.db.deleteFrom('days').where('day', '=', 1).execute();
    const late = { ...makeEntry({ ms: 1 }), since_day: 0 };
    await books.db.insertInto('doubtful').values(late).execute();
    const aside = await run('ledger', 'export');
    expect(aside.err).toContain('1 late entries do not count until');
    expect(aside.code).toBe(1);
    await books.db.deleteFrom('doubtful').execute();
    const damaged = { bucket: 3, ms: 1, seq: 0, fields: Buffer.from('x'), noted_ms: 1 };
    await books.db.insertInto('damaged').values(damaged).execute();
    const broken = await run('ledger', 'export');
    expect(broken.err).toContain('0 gaps and 1 damaged entries');
    expect(broken.code).toBe(1);
    await books.close();
  });

  it('export the ledger of one account, and refuse an account that the books do not know', async () => {
    expect((await run('books', 'import', ...FOLDERS)).code).toBe(0);
    const { code, out } = await run('ledger', 'export', '--account', ACCOUNT);
    expect([code, out.includes(ACCOUNT)]).toEqual([0, true]);
    for (const unknown of ['acct_03JqBCkVG9TY', 'acct_TYPO']) {
      expect(await run('ledger', 'export', '--account', unknown, '--format', 'csv')).toEqual({
        ...{ code: 1, out: '', err: `tollgate: the books have no account ${unknown}\n` },
      });
    }
  });

  it('say what an import could not find, and fail', async () => {
    const { code, out } = await run('books', 'import', FOLDERS[0] ?? '');
    expect(out).toContain('missing  2 stretches that neither');
    expect(code).toBe(1);
    const { code: codeOfMissing, err } = await run('books', 'import', join(dataDir, 'nowhere'));
    expect(err).toContain('ENOENT');
    expect(codeOfMissing).toBe(1);
  });

  it('name each figure that differs, and fail', async () => {
    await run('books', 'import', ...FOLDERS);
    const record = keysOfBucket(3).account(ACCOUNT);
    await redis.connection.send('hincrby', [record, 'balance', '2500000']);
    const { code, out } = await verify('--full');
    expect(out).toContain(`drift    ${ACCOUNT}: balance should be 999.996297 and is 1002.496297`);
    expect(out).toContain('do NOT agree');
    expect(code).toBe(1);
    const { out: json } = await verify('--json');
    expect(JSON.parse(json)).toMatchObject({ is_clean: false, drifts: [{ account: ACCOUNT }] });
    const repaired = await verify('--repair');
    expect([repaired.code, repaired.out]).toEqual([1, expect.stringContaining('balance should')]);
  });

  it('give accounts and keys what the books have, if nothing is wrong with the books', async () => {
    await run('books', 'import', ...FOLDERS);
    const [record, keys] = [keysOfBucket(3).account(ACCOUNT), keysOfBucket(3).keysOf(ACCOUNT)];
    const [keyId] = (await redis.connection.send('smembers', [keys])) as string[];
    const key = keysOfBucket(3).key(keyId ?? '');
    const fields = (await redis.connection.send('hkeys', [key])) as string[];
    const spent = fields.find((field) => field.startsWith('spent:')) ?? '';
    const before = await redis.connection.send('hget', [key, spent]);
    await redis.connection.send('hincrby', [record, 'balance', '2500000']);
    await redis.connection.send('hset', [key, spent, '1']);

    const books = openBooks({ target, isReader: false, name: 'test' });
    const damaged = { bucket: 3, ms: 1, seq: 0, fields: Buffer.from('x'), noted_ms: 1 };
    await books.db.insertInto('damaged').values(damaged).execute();
    const refused = await verify('--repair', 'all');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/wrong with the books/)]);
    expect(await redis.connection.send('hget', [key, spent])).toBe('1');
    await books.db.deleteFrom('damaged').execute();
    await closeMonth(books, spent.slice('spent:'.length), new AbortController().signal);
    await books.db.updateTable('usage_months').set({ charged: 1 }).execute();
    await books.close();

    const { code, out } = await verify('--repair', 'all');
    expect(out).toContain(`repaired ${ACCOUNT}: balance was 1002496297 and is 999996297`);
    expect(out).toContain(`repaired ${ACCOUNT} ${keyId}: ${spent} was 1 and is ${before}`);
    // The sum of a month, which no balance is taken from and which is not wrong any more.
    expect([out, code]).toEqual([expect.stringContaining('usage_months'), 1]);
    expect(await redis.connection.send('xlen', [AUDIT_KEY])).toBe(2);
    expect((await verify()).code).toBe(0);
  });

  it('repair what accounts and keys hold, and enter what it was', async () => {
    const account = await createAccount(redis.connection, 7);
    const { requestId, month } = await begin(redis.connection, account, { heldMicros: 700 });
    await run('books', 'import', ...FOLDERS);
    const keys = keysOfBucket(7);
    await redis.connection.send('hset', [keys.account(account.id), 'held', '-500300']);
    expect((await verify()).out).toContain(`${account.id}: held should be 0.0007 and is -0.5003`);
    const books = openBooks({ target, isReader: true, name: 'test' });
    expect(await readVerifiedFact(books)).toMatchObject({ drifts: 1 });
    const { code, out } = await verify('--repair');
    expect(out).toContain(`repaired ${account.id}: held was -500300 and is 700`);
    expect(code).toBe(0);
    expect(await readVerifiedFact(books)).toMatchObject({ drifts: 0 });
    await books.close();
    expect(await redis.connection.send('xlen', [AUDIT_KEY])).toBe(1);
    await redis.connection.send('hdel', [keys.holds, requestId]);
    expect((await verify('--repair')).code).toBe(0);
    const held = await redis.connection.send('hget', [keys.key(account.keyId), `held:${month}`]);
    expect(Number(held ?? 0)).toBe(0);
  });

  it('claim all entries for the books of these settings', async () => {
    await run('books', 'import', ...FOLDERS);
    await redis.connection.send('set', [BOOKS_KEYS.id, 'other-books']);
    const { code, out } = await run('books', 'claim');
    expect([code, out]).toEqual([0, expect.stringContaining('entries go to the books')]);
    const id = await redis.connection.send('get', [BOOKS_KEYS.id]);
    expect(out).toContain(String(id));
    expect(id).not.toBe('other-books');
  });

  it('claim nothing for books that never had an entry while others have, unless that is asked', async () => {
    const books = openBooks({ target, isReader: false, name: 'test' });
    await migrateBooks(books, Date.now());
    const { books: id } = await readIngestion(books);
    await books.close();
    await redis.connection.send('set', [BOOKS_KEYS.id, 'other-books']);
    expect(await run('books', 'claim')).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        `entries go to the books other-books; these are ${id}, at .*, and never had an entry`,
      ),
    });
    expect(await redis.connection.send('get', [BOOKS_KEYS.id])).toBe('other-books');
    expect((await run('books', 'claim', '--empty')).code).toBe(0);
    expect(await redis.connection.send('get', [BOOKS_KEYS.id])).toBe(id);
  });

  it('verify no other books than those that entries go to', async () => {
    await run('books', 'import', ...FOLDERS);
    await redis.connection.send('set', [BOOKS_KEYS.id, 'other-books']);
    const { code, out, err } = await verify();
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^tollgate: entries go to the books other-books; these are .*, at \S+\n$/);
    expect(err).toContain(target.kind === 'file' ? join(target.dir, 'books.db') : '//');
    expect(err).not.toMatch(/:\S*@/);
  });

  it('make no books where there are none, except to import into', async () => {
    for (const command of [
      ['ledger', 'verify'],
      ['ledger', 'export'],
      ['books', 'claim'],
      ['books', 'query', 'SELECT 1'],
      ['books', 'archive', '--dry-run'],
    ]) {
      expect(await run(...command), command.join(' ')).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^tollgate: there are no books at \S+: .*\n$/),
      });
    }
    const books = openBooks({ target, isReader: false, name: 'test' });
    expect(await findBooksId(books)).toBeUndefined();
    await books.close();
  });

  it("say that the node's own Redis is not there, or why another one does not answer", async () => {
    await run('books', 'import', ...FOLDERS);
    rmSync(join(dataDir, 'redis.sock'));
    const [own, shut] = [
      await verify(),
      await claimAt(`redis://nobody:wrong@127.0.0.1:${redis.server.port}`),
    ];
    expect([own.code, own.err]).toEqual([
      1,
      `tollgate: the node's own Redis runs only while the node does, and there is none in ${dataDir}\n`,
    ]);
    expect([shut.code, shut.err]).toEqual([
      1,
      expect.stringMatching(/^tollgate: Redis does not answer: WRONGPASS .*\n$/),
    ]);
  });

  it('fail with settings that are wrong', async () => {
    writeFileSync(configPath, 'workers: none\n');
    const { code, err } = await verify();
    expect([code, err]).toEqual([1, expect.stringContaining('workers')]);
  });
});
