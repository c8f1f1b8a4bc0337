import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Takes what is to be done in the end; by default that is the end of the running test. */
export type CleanUp = (undo: () => void | Promise<void>) => void;

/** A folder of the running test's own, with a path short enough for sockets. */
export function createTempDir(cleanUp: CleanUp = onTestFinished): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-'));
  cleanUp(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
