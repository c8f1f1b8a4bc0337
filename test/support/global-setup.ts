import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** For what the test files of one run share. Other users of the machine may look into it. */
    runFolder: string;
  }
}

/** Lets `npm test` run on a machine that has only Node. */
export function setup({ provide }: TestProject): () => void {
  const installed = spawnSync('test/support/install-missing.sh', { stdio: 'inherit' });
  if (installed.status !== 0) throw new Error('what the tests need could not be installed');
  // Debian keeps servers in folders that may be missing from a user's PATH.
  process.env['PATH'] = `${process.env['PATH']}:/usr/sbin`;

  const folder = mkdtempSync(join(tmpdir(), 'tollgate-run-'));
  chmodSync(folder, 0o755);
  provide('runFolder', folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
