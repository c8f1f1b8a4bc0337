import { constants, existsSync } from 'node:fs';
import { access, mkdtemp, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { BOOKS_FILE, openBooks } from '../../books/engine/open-books.ts';
import { formatByteSize } from '../../lib/units/parse-byte-size.ts';
import { type Finding, failCheck, passCheck, skipCheck, warnCheck } from '../finding.ts';
import { findExisting } from '../machine/check-data-folder.ts';
import type { BooksAccess, BooksContents } from './books-access.ts';
import { readContents } from './read-contents.ts';

const MEBIBYTE = 1024 ** 2;
/**
 * Books grow evenly: free space below this share of their size lasts less than a tenth of their
 * age.
 */
const FREE_SHARE_WARN = 0.1;
const ELSEWHERE = 'Put data_dir on a disk of this machine, or set books.url to a Postgres.';

/**
 * File systems of other machines, by what statfs(2) returns; their locks are not enough for WAL.
 */
const REMOTE: ReadonlyMap<number, string> = new Map([
  [0x69_69, 'NFS'],
  [0xff_53_4d_42, 'CIFS'],
  [0xfe_53_4d_42, 'SMB'],
  [0x01_02_19_97, '9P'],
  [0x00_c3_64_00, 'Ceph'],
  [0x0b_d0_0b_d0, 'Lustre'],
]);

/** Creates nothing: if there are no books yet, the checks try the folder above. */
export async function openFile(dir: string): Promise<BooksAccess> {
  const file = join(dir, BOOKS_FILE);
  const contents = existsSync(file) ? await readFileContents(dir, file) : undefined;
  return {
    name: existsSync(file) ? file : `${file}, which the first start makes`,
    contents,
    checkLatency: async () => skipCheck('the books are a file'),
    checkVersion: () => checkFileSystem(findExisting(dir)),
    checkRights: () => checkFolder(findExisting(dir)),
    checkPersistence: async () => skipCheck('the books are a file'),
    checkClock: async () => skipCheck('the books are a file'),
    checkSpace: () => checkRoom(file, findExisting(dir)),
    close: async () => {},
  };
}

async function readFileContents(dir: string, file: string): Promise<BooksContents | undefined> {
  await access(file, constants.R_OK | constants.W_OK);
  const books = openBooks({ target: { kind: 'file', dir }, isReader: true, name: 'doctor' });
  try {
    return await readContents(books);
  } finally {
    await books.close();
  }
}

async function checkFileSystem(folder: string): Promise<Finding> {
  return judgeFileSystem((await statfs(folder)).type);
}

export function judgeFileSystem(type: number): Finding {
  const remote = REMOTE.get(type >>> 0);
  return remote === undefined
    ? passCheck('libsql, on a disk of this machine')
    : failCheck(`the data folder is on ${remote}, where a database breaks`, ELSEWHERE);
}

/** Writes books of its own into the folder, as a node does, and removes them. */
async function checkFolder(folder: string): Promise<Finding> {
  try {
    const dir = await mkdtemp(join(folder, '.doctor-'));
    const books = openBooks({ target: { kind: 'file', dir }, isReader: false, name: 'doctor' });
    try {
      await sql`create table trial (n integer primary key)`.execute(books.db);
      const { rows } = await sql<{ journal_mode: string }>`pragma journal_mode`.execute(books.db);
      const mode = rows[0]?.journal_mode;
      return mode === 'wal'
        ? passCheck('a file can be made and written, with WAL')
        : failCheck(`WAL cannot be switched on: the mode is ${mode}`, ELSEWHERE);
    } finally {
      await books.close();
      await rm(dir, { recursive: true });
    }
  } catch (error) {
    return failCheck(
      `nothing can be written in ${folder}: ${(error as Error).message}`,
      'Give the folder to the user of the node, or name another one as data_dir.',
    );
  }
}

async function checkRoom(file: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const sizes = await Promise.all(
    [file, `${file}-wal`].map((path) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return judgeRoom(
    sizes.reduce((sum, size) => sum + size, 0),
    bavail * bsize,
  );
}

export function judgeRoom(bytes: number, freeBytes: number): Finding {
  const show = (count: number) => formatByteSize(Math.floor(count / MEBIBYTE) * MEBIBYTE);
  const found = `${show(bytes)}, and ${show(freeBytes)} free`;
  return freeBytes < bytes * FREE_SHARE_WARN
    ? warnCheck(found, 'Free some space, set books.archive, or lower books.keep.')
    : passCheck(found);
}
