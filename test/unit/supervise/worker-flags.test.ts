import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { chooseWorkerFlags } from '../../../src/supervise/worker-flags.ts';

it('this version of Node.js takes each of them, and warns of none', () => {
  const program = `
    const spaces = require('node:v8').getHeapSpaceStatistics();
    console.log(spaces.find((space) => space.space_name === 'new_space').space_size / 1024 ** 2);`;
  const args = [...chooseWorkerFlags(), '-e', program];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  // The size from the start. Without the flags it grows from 1 MiB.
  expect([status, stdout, stderr]).toEqual([0, '8\n', '']);
});

it('large pages are not asked for where Linux does not tell of them', () => {
  const isAsked = (flags: readonly string[]) => flags.includes('--use-largepages=silent');
  expect(isAsked(chooseWorkerFlags('/no/such/setting'))).toBe(process.platform !== 'linux');
  expect(isAsked(chooseWorkerFlags(process.execPath))).toBe(true);
});
