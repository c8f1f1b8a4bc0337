import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findLockHolder, lockDataDir } from '../../../src/data-dir/lock-data-dir.ts';
import { createTempDir } from '../../support/create-temp-dir.ts';

const AT_ONCE = 8;
const LEAVE_A_SOCKET = `
  require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'));
`;

it('lets one of several that start at once use a data folder, also after a kill', async () => {
  for (const isKilledBefore of [false, true]) {
    const dataDir = createTempDir();
    const socket = join(dataDir, 'primary.sock');
    if (isKilledBefore) spawnSync(process.execPath, ['-e', LEAVE_A_SOCKET, socket]);
    expect(existsSync(socket)).toBe(isKilledBefore);
    const tries = await Promise.allSettled(
      Array.from({ length: AT_ONCE }, () => lockDataDir(dataDir)),
    );
    const locks = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(locks).toHaveLength(1);
    for (const one of tries) {
      if (one.status === 'rejected')
        expect(one.reason).toMatchObject({ message: expect.stringContaining('is in use by') });
    }
    expect(await findLockHolder(dataDir)).toBe(String(process.pid));
    locks[0]?.release();
    expect(await findLockHolder(dataDir)).toBeUndefined();
    (await lockDataDir(dataDir)).release();
  }
});
