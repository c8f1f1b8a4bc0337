import { existsSync } from 'node:fs';
import { mkdtemp, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatByteSize } from '../../lib/units/parse-byte-size.ts';
import { type Finding, failCheck, passCheck, warnCheck } from '../finding.ts';

const MEBIBYTE = 1024 ** 2;
const FREE_BYTES_WARN = 1024 * MEBIBYTE;
const FREE_BYTES_MIN = 100 * MEBIBYTE;

/**
 * Leaves nothing behind. If the folder does not exist yet, the check tries its parent and does not
 * create it.
 */
export async function checkDataFolder(dataDir: string): Promise<Finding> {
  const folder = findExisting(dataDir);
  try {
    const trial = await mkdtemp(join(folder, '.doctor-'));
    try {
      await writeFile(join(trial, 'trial'), 'trial');
    } finally {
      await rm(trial, { recursive: true });
    }
  } catch (error) {
    return failCheck(
      `nothing can be written in ${folder}: ${(error as Error).message}`,
      'Give the folder to the user of the node, or name another one as data_dir.',
    );
  }
  const { bavail, bsize } = await statfs(folder);
  return judgeFreeSpace(dataDir, bavail * bsize);
}

export function judgeFreeSpace(dataDir: string, freeBytes: number): Finding {
  const free = formatByteSize(Math.floor(freeBytes / MEBIBYTE) * MEBIBYTE);
  const found = `${dataDir}, ${free} free`;
  const advice = 'Free some space, or move data_dir: the journal and the ledger grow.';
  if (freeBytes < FREE_BYTES_MIN) return failCheck(found, advice);
  return freeBytes < FREE_BYTES_WARN ? warnCheck(found, advice) : passCheck(found);
}

export function findExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : findExisting(dirname(folder));
}
