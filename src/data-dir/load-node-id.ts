import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Tells nodes on one Redis apart. Goes with the data folder, like the ledger's segments. */
export function loadNodeId(dataDir: string): string {
  const path = join(dataDir, 'node-id');
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const id = randomUUID();
  writeFileSync(path, `${id}\n`);
  return id;
}
