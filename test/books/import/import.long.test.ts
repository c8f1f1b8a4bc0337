import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { Books } from '../../../src/books/engine/books.ts';
import { type ImportOptions, importSegments } from '../../../src/books/import/import-segments.ts';
import { verifyBooks } from '../../../src/books/verify/verify-books.ts';
import { readIngestion } from '../../../src/books/writing/write-batch.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';
import { describeBooks } from '../books-scene.ts';
import { enterStreams } from '../enter-streams.ts';
import { useRedis } from '../use-redis.ts';
import { replayRedis, SEGMENTS } from './replay-redis.ts';

const BUCKETS = [3, 200];
const [A, B] = [join(SEGMENTS, 'a'), join(SEGMENTS, 'b')];
const clock = { nowMs: Date.now };

describeBooks('importing segments', (scene) => {
  const redis = useRedis();
  let books: Books;

  beforeEach(async () => {
    books = await scene.create();
    await replayRedis(redis.connection);
  });

  const importFolders = (
    dirs: readonly string[],
    onProgress = () => {},
    signal = new AbortController().signal,
    connection: ImportOptions['connection'] = redis.connection,
  ) =>
    importSegments({
      ...{ books, connection, dirs, clock, signal, onProgress },
      findCost: () => 100,
    });
  const enter = () => enterStreams(books, redis.connection, BUCKETS);
  const verify = () =>
    verifyBooks({
      ...{ books, connection: redis.connection, clock, isFull: true, onProgress: () => {} },
      signal: new AbortController().signal,
    });
  const CLEAN = {
    ...{ is_clean: true, entries: 14, accounts: 2, drifts: [], sum_drifts: [], gaps: 0 },
  };
  /** A copy that a test may change. */
  const copyFolder = (dir: string) => {
    const copy = createTempDir();
    cpSync(dir, copy, { recursive: true });
    return copy;
  };
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(path, change(readFileSync(path, 'utf8')));

  it('enters each entry once, and ingestion goes on behind it', async () => {
    const report = await importFolders([A, B]);
    expect(report).toMatchObject({ files: 4, lines: 38, entries: 9, payments: 3, damaged: [] });
    expect(report.gaps).toBe(0);
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
    const { cursors } = await readIngestion(books);
    expect([...cursors.keys()]).toEqual(BUCKETS);
    await enter();
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
  });

  it.each([
    ['in the other order', [B, A]],
    ['when a folder is named twice', [A, B, `${A}/../a`]],
  ])('comes to the same %s', async (_, dirs) => {
    await importFolders(dirs);
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
  });

  it('reads nothing again the next time', async () => {
    await importFolders([A, B]);
    await enter();
    const again = await importFolders([A, B]);
    expect(again).toMatchObject({ files: 4, lines: 0, entries: 0, payments: 0, gaps: 0 });
    expect(await verify()).toMatchObject(CLEAN);
  });

  it('goes on where it was interrupted', async () => {
    let files = 0;
    const interrupted = importFolders([A, B], () => {
      files++;
      if (files === 4) throw new Error('the machine was switched off');
    });
    await expect(interrupted).rejects.toThrow('switched off');
    expect((await readIngestion(books)).cursors.size).toBe(0);
    const rest = await importFolders([A, B]);
    expect(rest.lines).toBeLessThan(38);
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
  });

  it('ends soon when it is told to, and goes on the next time', async () => {
    const ending = new AbortController();
    let shown = 0;
    const onProgress = () => {
      shown++;
      if (shown === 4) ending.abort(new Error('the command was ended'));
    };
    const ended = importFolders([A, B], onProgress, ending.signal);
    await expect(ended).rejects.toThrow('the command was ended');
    expect(shown).toBeLessThan(6);
    const rest = await importFolders([A, B]);
    expect(rest.lines).toBeGreaterThan(0);
    expect(rest.lines).toBeLessThan(38);
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
  });

  it('fills the gap that ingestion has noted before', async () => {
    const { version } = await readIngestion(books);
    const gaps = BUCKETS.map((bucket) => ({ bucket, after: '0-0', until: '1795470519300-0' }));
    await books.db
      .insertInto('gaps')
      .values(gaps.map((gap) => ({ ...gap, noted_ms: 5 })))
      .execute();
    await enter();
    expect(await verify()).toMatchObject({ is_clean: false, gaps: 2 });
    await importFolders([A, B]);
    expect(await verify()).toMatchObject(CLEAN);
    expect((await readIngestion(books)).version).toBeGreaterThan(version + 1);
  });

  it('notes what nobody has any more, and fills it when the other folder comes', async () => {
    const { gaps } = await importFolders([A]);
    expect(gaps).toBe(2);
    await enter();
    expect(await verify()).toMatchObject({ is_clean: false, gaps: 2 });
    await importFolders([B]);
    expect(await verify()).toMatchObject(CLEAN);
  });

  it('does not count what a failover took back, whatever it had charged', async () => {
    const [a, b] = [copyFolder(A), copyFolder(B)];
    // The last line of bucket 3 in the first segment is the one that was lost.
    edit(join(a, 'ledger-000000000001.ndjson'), (text) =>
      text.replace(/("charged_micros":)702/, '$1999'),
    );
    await importFolders([a, b]);
    expect(await verify()).toMatchObject({ ...CLEAN, repeats: 1 });
  });

  it('names lines that are damaged, and enters the others', async () => {
    const [a, b] = [copyFolder(A), copyFolder(B)];
    const first = join(a, 'ledger-000000000001.ndjson');
    const second = join(a, 'ledger-000000000002.ndjson');
    edit(first, (text) => text.replace('"held_micros":', '"held":'));
    edit(second, (text) => text.trimEnd().split('\n').slice(0, -1).join('\n'));
    rmSync(join(b, 'ledger-000000000001.ndjson'));
    const { damaged } = await importFolders([a, b]);
    expect(damaged).toEqual([
      { file: second, line: 10, reason: 'it has 9 entries, and its header says 10' },
      { file: first, line: 2, reason: expect.stringContaining('held_micros') },
    ]);
  });

  it('keeps the bytes of what no version could decode', async () => {
    const dir = createTempDir();
    const damaged = ['what', 'is', 'this'].map((field) => Buffer.from(field).toString('base64'));
    writeSegment(dir, [{ bucket: 9, id: '7-0', damaged }]);
    expect(await importFolders([dir])).toMatchObject({ lines: 1, entries: 0, damaged: [] });
    const rows = await books.db.selectFrom('damaged').selectAll().execute();
    expect(rows).toMatchObject([{ bucket: 9, ms: 7, seq: 0 }]);
  });

  it('lets the later of two events have an id that was given twice', async () => {
    const line = readFileSync(join(A, 'ledger-000000000001.ndjson'), 'utf8').split('\n')[2] ?? '';
    const entry = { ...JSON.parse(line), bucket: 9, id: '7-0', account: 'acct_x' };
    const [early, late] = [createTempDir(), createTempDir()];
    const other = { ...entry, request: 'req_021YjMQco8vagpaDgmwgMiXX', charged_micros: 5 };
    writeSegment(early, [entry], '2026-01-01T00:00:00Z');
    writeSegment(late, [other], '2026-01-01T00:00:09Z');
    await importFolders([early, late]);
    const totals = await books.db.selectFrom('account_totals').selectAll().execute();
    expect(totals).toMatchObject([{ account: 'acct_x', entries: 1, charged: 5 }]);
  });

  it('goes on while a node takes the streams into the books', async () => {
    let entering: Promise<void> | undefined;
    let holds = 0;
    // It asks Redis when it has read all segments, and before it moves the cursors.
    const connection: ImportOptions['connection'] = {
      client: redis.connection.client,
      send: async (...call) => {
        holds += 1;
        await entering;
        return redis.connection.send(...call);
      },
    };
    const begin = () => {
      entering ??= enter();
    };
    await importFolders([A, B], begin, undefined, connection);
    expect(holds).toBeGreaterThan(0);
    await enter();
    expect(await verify()).toMatchObject(CLEAN);
  });
});

/** A segment that has bucket 9 up to 7-0. */
function writeSegment(
  dir: string,
  entries: readonly object[],
  created = '2026-01-01T00:00:00Z',
): void {
  mkdirSync(dir, { recursive: true });
  const cursors = { before: { 9: '0-0' }, after: { 9: '7-0' } };
  const header = { segment: 1, sequence: 1, created, node: 'x', entries: entries.length };
  const lines = [{ ...header, ...cursors }, ...entries].map((line) => JSON.stringify(line));
  writeFileSync(join(dir, 'ledger-000000000001.ndjson'), `${lines.join('\n')}\n`);
}
