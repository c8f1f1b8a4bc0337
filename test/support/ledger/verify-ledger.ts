import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Gateway } from '../servers/start-gateway.ts';

/** The output of `tollgate ledger verify` for a node with this store. */
export function verifyLedger({ dataDir }: Gateway, redisUrl: string): object {
  const configPath = join(dataDir, 'verify.yaml');
  writeFileSync(configPath, `data_dir: ${dataDir}\nredis: {url: "${redisUrl}"}\n`);
  const args = ['dist/src/main.js', 'ledger', 'verify', '--config', configPath, '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as object;
}
