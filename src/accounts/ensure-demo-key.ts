import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mintAccountId } from '../keys/account-id.ts';
import { mintApiKey, mintKeyId, parseApiKey } from '../keys/api-key.ts';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { MICROS_PER_CREDIT } from '../lib/units/micros.ts';
import type { Directory } from './directory.ts';

const CREDITS = 1_000;
const PAYMENT_ID = 'demo';

interface DemoOptions {
  readonly dataDir: string;
  readonly directory: Pick<Directory, 'ensureAccount' | 'ensureKey' | 'addCredits'>;
}

/**
 * Creates an account to begin with, and its key, which is kept in the data folder. The id of the
 * account follows from the key. So every start does the same again, wherever the last start was cut
 * off and whatever is left of it.
 */
export async function ensureDemoKey({ dataDir, directory }: DemoOptions): Promise<string> {
  const key = loadKey(join(dataDir, 'demo-key'));
  const accountId = accountOfKey(key);
  await directory.ensureAccount(accountId, { name: 'demo', plan: 'pro' });
  await directory.ensureKey(accountId, key, { name: 'demo' });
  const payment = { micros: CREDITS * MICROS_PER_CREDIT, id: PAYMENT_ID, note: 'for a start' };
  await directory.addCredits(accountId, payment);
  return key;
}

function loadKey(path: string): string {
  const kept = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  if (parseApiKey(kept) !== undefined) return kept;
  const bucket = (randomBytes(1)[0] ?? 0) % BUCKETS;
  const key = mintApiKey(mintKeyId(bucket, randomBytes), randomBytes);
  writeFileSync(`${path}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return key;
}

function accountOfKey(key: string): string {
  const bucket = parseApiKey(key)?.bucket ?? 0;
  const digest = createHash('sha256').update(`account of ${key}`).digest();
  return mintAccountId(bucket, () => digest);
}
