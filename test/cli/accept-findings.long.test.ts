import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { openBooks } from '../../src/books/engine/open-books.ts';
import type { LedgerReport } from '../../src/books/verify/ledger-report.ts';
import { readVerifiedFact } from '../../src/books/verify/verified-fact.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { keysOfBucket } from '../../src/quota/keys-of-bucket.ts';
import { AUDIT_KEY } from '../../src/redis/redis-keys.ts';
import { describeBooks } from '../books/books-scene.ts';
import { replayRedis, SEGMENTS } from '../books/import/replay-redis.ts';
import { useRedis } from '../books/use-redis.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { runHere } from './use-cli.ts';

const ACCOUNT = 'acct_03JqBCkVG9TX';
const RECORD = keysOfBucket(3).account(ACCOUNT);
const SEGMENTS_OF_ONE = join(SEGMENTS, 'a');
const SEGMENTS_OF_BOTH = [SEGMENTS_OF_ONE, join(SEGMENTS, 'b')];
const REASON = ['--reason', 'lost with a disk; ticket 4711'];

describeBooks('accepting what ledger verify found', (scene) => {
  const redis = useRedis();
  let configPath = '';
  let target: BooksTarget;

  beforeEach(async () => {
    const dataDir = createTempDir();
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
  const verify = (...args: string[]) => run('ledger', 'verify', ...args);
  const accept = (...what: string[]) => verify('--accept', ...what, ...REASON);
  const changeBalance = (micros: number) =>
    redis.connection.send('hincrby', [RECORD, 'balance', `${micros}`]);
  const readReport = async () => JSON.parse((await verify('--json')).out) as LedgerReport;
  /** What the nodes tell as a metric. */
  const readDrifts = async () => {
    const books = openBooks({ target, isReader: true, name: 'test' });
    const fact = await readVerifiedFact(books);
    await books.close();
    return fact?.drifts;
  };
  const readAudit = async () => {
    const rows = (await redis.connection.send('xrange', [AUDIT_KEY, '-', '+'])) as [
      string,
      string[],
    ][];
    return rows.map(([, fields]) => JSON.parse(fields[5] ?? '') as object);
  };

  it('counts an accepted difference no more, lists it, and enters who accepted it and why', async () => {
    await run('books', 'import', ...SEGMENTS_OF_BOTH);
    await changeBalance(2_500_000);
    expect((await verify()).code).toBe(1);
    expect(await readDrifts()).toBe(1);

    const { code, out } = await accept(ACCOUNT);
    const line = new RegExp(
      `^accepted drift ${ACCOUNT} balance, off by 2\\.5, by \\S+@\\S+ at \\S+Z: ${REASON[1]}$`,
      'm',
    );
    expect(out).toMatch(line);
    expect(out).not.toMatch(/^drift /m);
    expect(out).toContain('agree, but for what is accepted');
    expect(code).toBe(0);
    expect(await readDrifts()).toBe(0);
    expect(await readAudit()).toEqual([
      {
        ...{ what: 'ledger.accept', account: ACCOUNT, key: null, outcome: 'done', before: null },
        node: expect.any(String),
        who: { via: 'cli', token: null, address: null, operator: null },
        after: {
          by: expect.stringMatching(/^\S+@\S+$/),
          reason: REASON[1],
          findings: [`drift ${ACCOUNT} balance, off by 2.5`],
        },
      },
    ]);

    const again = await verify();
    expect([again.code, again.out]).toEqual([0, expect.stringMatching(line)]);
    expect(await readReport()).toMatchObject({
      is_clean: true,
      drifts: [{ account: ACCOUNT, what: 'balance_micros' }],
      accepted: [
        {
          ...{ finding: `drift ${ACCOUNT} balance`, excess_micros: 2_500_000, reason: REASON[1] },
          accepted_at: expect.stringMatching(/Z$/),
        },
      ],
    });
    expect(await readDrifts()).toBe(0);
  });

  it('accepts gaps and what they leave behind, and rings for the next gap', async () => {
    await run('books', 'import', SEGMENTS_OF_ONE);
    await changeBalance(-700);
    expect(await readReport()).toMatchObject({ gaps: 2, drifts: [{ account: ACCOUNT }] });
    expect(await readDrifts()).toBe(3);
    const { code, out } = await accept('missing', ACCOUNT);
    expect(out).toContain(`accepted drift ${ACCOUNT} balance, off by -0.0007, by `);
    expect(out).toMatch(/^accepted missing bucket \d+ after \S+ until \S+, by /m);
    expect(out).not.toMatch(/^missing /m);
    expect(code).toBe(0);
    expect(await readReport()).toMatchObject({ is_clean: true, gaps: 2 });
    expect(await readDrifts()).toBe(0);

    const books = openBooks({ target, isReader: false, name: 'test' });
    const gap = { bucket: 7, after: '1-0', until: '2-0', noted_ms: 1 };
    const damaged = { bucket: 7, ms: 1, seq: 0, fields: Buffer.from('x'), noted_ms: 1 };
    await books.db.insertInto('gaps').values(gap).execute();
    await books.db.insertInto('damaged').values(damaged).execute();
    await books.close();
    expect((await verify()).out).toMatch(/^missing {2}1 stretches/m);
    expect(await readDrifts()).toBe(2);
    const damagedToo = await accept('missing', 'damaged');
    expect(damagedToo.out).toContain('accepted damaged bucket 7, 1-0, by ');
    expect(damagedToo.code).toBe(0);
  });

  // What follows is the same on both engines, and each verify of Postgres takes a second.
  if (scene.engine === 'postgres') return;

  it('tells of another difference of the same account, and forgets one that has gone', async () => {
    await run('books', 'import', ...SEGMENTS_OF_BOTH);
    await changeBalance(2_500_000);
    await accept(ACCOUNT);
    await changeBalance(1);
    const { code, out } = await verify();
    expect([code, out]).toEqual([1, expect.stringMatching(/^drift /m)]);
    expect(out).not.toContain('accepted');
    expect(await readDrifts()).toBe(1);

    await changeBalance(-1);
    expect((await verify()).code).toBe(0);
    await changeBalance(-2_500_000);
    expect(await readReport()).toMatchObject({ is_clean: true, drifts: [], accepted: [] });
    await changeBalance(2_500_000);
    expect((await verify()).code).toBe(1);
  });

  it('takes no balance from books whose gaps are accepted', async () => {
    await run('books', 'import', SEGMENTS_OF_ONE);
    await accept('missing');
    await changeBalance(2_500_000);
    const before = await redis.connection.send('hget', [RECORD, 'balance']);
    const { code, err } = await verify('--repair', 'all');
    expect([code, err]).toEqual([1, expect.stringMatching(/wrong with the books/)]);
    expect(await redis.connection.send('hget', [RECORD, 'balance'])).toBe(before);
  });

  it('repairs what was accepted, if nothing is wrong with the books', async () => {
    await run('books', 'import', ...SEGMENTS_OF_BOTH);
    await changeBalance(2_500_000);
    await accept(ACCOUNT);
    const { code, out } = await verify('--repair', 'all');
    expect([code, out]).toEqual([0, expect.stringMatching(/^repaired .*: balance was/m)]);
    expect(out).not.toContain('accepted');
    expect(await readReport()).toMatchObject({ is_clean: true, drifts: [], accepted: [] });
  });

  it('accepts all of what is named or nothing, and says why', async () => {
    await run('books', 'import', ...SEGMENTS_OF_BOTH);
    await changeBalance(2_500_000);
    const nothingOf = (what: string) =>
      `tollgate: nothing was accepted: there is nothing to accept of ${what}\n`;
    for (const what of ['acct_0000000000zz', 'missing', 'damaged']) {
      const { code, out, err } = await accept(ACCOUNT, what);
      expect([code, out, err]).toEqual([1, '', nothingOf(what)]);
    }
    expect(await readAudit()).toEqual([]);
    expect((await accept(ACCOUNT)).code).toBe(0);
    expect((await accept(ACCOUNT)).err).toBe(nothingOf(ACCOUNT));

    await redis.connection.send('hset', [RECORD, 'held', '5']);
    expect((await accept(ACCOUNT)).err).toBe(nothingOf(ACCOUNT));
  });
});

it.each([
  [['--accept', ACCOUNT], '--accept needs a --reason'],
  [REASON, '--reason needs --accept'],
  [['--accept', ACCOUNT, '--reason', ' '], 'It must be 1 to 500 characters.'],
  [['--accept', ACCOUNT, ...REASON, '--repair'], "cannot be used with option '--repair [what]'"],
])('accepts nothing with wrong options: %j', async (args, problem) => {
  const { code, err } = await runHere({}, 'ledger', 'verify', ...args);
  expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
});
