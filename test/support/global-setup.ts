import { spawnSync } from 'node:child_process';

/** Lets `npm test` run on a machine that has only Node. */
export function setup(): void {
  const installed = spawnSync('test/support/install-missing.sh', { stdio: 'inherit' });
  if (installed.status !== 0) throw new Error('what the tests need could not be installed');
  // Debian keeps servers in folders that may be missing from a user's PATH.
  process.env['PATH'] = `${process.env['PATH']}:/usr/sbin`;
}
