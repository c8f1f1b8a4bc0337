import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of the running test's own, with a path short enough for sockets. */
export function createTempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
