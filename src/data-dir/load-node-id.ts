import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DATA_FILES } from '../lib/data-files.ts';

/**
 * Distinguishes nodes that share one Redis. The id belongs to the data folder, like the segments of
 * the ledger.
 */
export function loadNodeId(dataDir: string): string {
  const path = join(dataDir, DATA_FILES.nodeId);
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const id = randomUUID();
  writeFileSync(path, `${id}\n`);
  return id;
}
