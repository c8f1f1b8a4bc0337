import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { Gateway } from '../servers/start-gateway.ts';

/**
 * The output of `tollgate ledger verify` for a node with this store. It never blocks: the node
 * closes idle connections meanwhile, and their end must be noticed.
 */
export async function verifyLedger({ dataDir }: Gateway, redisUrl: string): Promise<object> {
  const configPath = join(dataDir, 'verify.yaml');
  writeFileSync(configPath, `data_dir: ${dataDir}\nredis: {url: "${redisUrl}"}\n`);
  const args = ['dist/src/main.js', 'ledger', 'verify', '--config', configPath, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stdout, stderr).not.toBe('');
  return JSON.parse(stdout) as object;
}
