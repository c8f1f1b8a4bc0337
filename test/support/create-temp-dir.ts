import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Registers a clean-up function; by default it runs at the end of the running test. */
export type CleanUp = (undo: () => void | Promise<void>) => void;

/** Creates a folder for the running test, with a path short enough for sockets. */
export function createTempDir(cleanUp: CleanUp = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-'));
  cleanUp(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
