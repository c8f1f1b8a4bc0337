import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Gateway } from './servers/start-gateway.ts';

/** What `tollgate ledger verify` says of a node whose store is this one. */
export function verifyLedger({ dataDir }: Gateway, redisUrl: string): object {
  const configPath = join(dataDir, 'verify.yaml');
  writeFileSync(configPath, `data_dir: ${dataDir}\nredis: {url: "${redisUrl}"}\n`);
  const args = ['dist/src/main.js', 'ledger', 'verify', '--config', configPath, '--json'];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as object;
}
