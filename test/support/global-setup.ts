import { spawnSync } from 'node:child_process';

/** So that `npm test` works on a machine that has nothing but Node. */
export function setup(): void {
  const installed = spawnSync('test/support/install-missing.sh', { stdio: 'inherit' });
  if (installed.status !== 0) throw new Error('what the tests need could not be installed');
  // Debian keeps servers where the PATH of a user may not lead.
  process.env['PATH'] = `${process.env['PATH']}:/usr/sbin`;
}
