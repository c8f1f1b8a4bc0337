import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import { MIGRATIONS } from '../../src/books/engine/migrations.ts';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { judgeFileSystem, judgeRoom } from '../../src/doctor/books/open-file.ts';
import { createTempDir } from '../support/create-temp-dir.ts';
import { examine, problem } from './examine.ts';

const GIBIBYTE = 1024 ** 3;
const NFS = 0x69_69;
const EXT4 = 0xef_53;

describe('the doctor and the books in a file', () => {
  it('finds nothing wrong before there are any, and makes none', async () => {
    const dataDir = join(createTempDir(), 'data');
    const find = await examine({ dataDir });
    expect(find('books-reachable')).toEqual({
      state: 'ok',
      found: `${join(dataDir, 'books/books.db')}, which the first start makes`,
    });
    expect(find('books-version').state).toBe('ok');
    expect(find('books-rights')).toEqual({
      state: 'ok',
      found: 'a file can be made and written, with WAL',
    });
    for (const name of ['books-latency', 'books-persistence', 'books-clock'] as const) {
      expect(find(name).state).toBe('skipped');
    }
    expect(existsSync(dataDir)).toBe(false);
  });

  it('reads those that are there, and leaves nothing beside them', async () => {
    const dataDir = createTempDir();
    const target = { kind: 'file', dir: join(dataDir, 'books') } as const;
    const books = openBooks({ target, isReader: false, name: 'test' });
    await migrateBooks(books, Date.now());
    const files = readdirSync(target.dir);
    const find = await examine({ dataDir });
    expect(find('books-reachable')).toEqual({ state: 'ok', found: join(target.dir, 'books.db') });
    expect(find('books-schema')).toEqual({ state: 'ok', found: `version ${MIGRATIONS.length}` });
    expect(find('books-space').state).toBe('ok');
    expect(readdirSync(target.dir)).toEqual(files);
    await books.close();
  });

  it('tells a file that is no database', async () => {
    const dataDir = createTempDir();
    mkdirSync(join(dataDir, 'books'));
    writeFileSync(join(dataDir, 'books/books.db'), 'no database, '.repeat(1_000));
    const find = await examine({ dataDir });
    expect(find('books-reachable')).toEqual(problem('failed', 'not a database', 'from a backup'));
    expect(find('books-schema').state).toBe('skipped');
  });

  it('fails a disk of another machine', () => {
    expect(judgeFileSystem(NFS)).toEqual(problem('failed', 'NFS', 'Postgres'));
    expect(judgeFileSystem(EXT4).state).toBe('ok');
  });

  it('warns when the books have grown to more than ten times the room that is left', () => {
    expect(judgeRoom(100 * GIBIBYTE, 9 * GIBIBYTE)).toEqual(
      problem('warning', '9GiB free', 'books.keep'),
    );
    expect(judgeRoom(100 * GIBIBYTE, 11 * GIBIBYTE).state).toBe('ok');
  });
});
