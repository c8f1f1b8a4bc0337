import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const RELEASES = 'dist/releases';
/** The last release whose keys had no lists of limits. */
export const BEFORE_LISTS = 'before-lists';

/** Returns the folder of a release that `pack-release.ts` has packed. */
export function unpackRelease(name: string): string {
  const dir = resolve(RELEASES, name);
  if (existsSync(dir)) return dir;
  mkdirSync(RELEASES, { recursive: true });
  const unpacked = mkdtempSync(join(RELEASES, 'unpacked-'));
  execFileSync('tar', ['xf', `test/fixtures/releases/${name}.tar.gz`, '-C', unpacked]);
  try {
    renameSync(unpacked, dir);
  } catch (error) {
    // Another test file was first.
    rmSync(unpacked, { recursive: true });
    if (!existsSync(dir)) throw error;
  }
  return dir;
}
