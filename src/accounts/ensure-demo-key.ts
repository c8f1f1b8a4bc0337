import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mintAccountId } from '../keys/account-id.ts';
import { mintApiKey, mintKeyId, parseApiKey } from '../keys/api-key.ts';
import { BUCKETS } from '../keys/bucket-tags.ts';
import { DATA_FILES } from '../lib/data-files.ts';
import { MICROS_PER_CREDIT } from '../lib/units/micros.ts';
import type { Directory } from './directory.ts';
import { DirectoryError } from './directory-error.ts';

const CREDITS = 1_000;
const PAYMENT_ID = 'demo';

interface DemoOptions {
  readonly dataDir: string;
  readonly directory: Pick<Directory, 'getAccount' | 'ensureAccount' | 'ensureKey' | 'addCredits'>;
}

export function demoKeyPath(dataDir: string): string {
  return resolve(join(dataDir, DATA_FILES.demoKey));
}

/**
 * Creates a first account and its key, which is kept in the data folder. The id of the account
 * follows from the key, so a start finishes what an interrupted one began.
 */
export async function ensureDemoKey({ dataDir, directory }: DemoOptions): Promise<string> {
  const key = loadKey(demoKeyPath(dataDir));
  const accountId = accountOfKey(key);
  // The account is written last and never removed: if it exists, its key was created before. A
  // key that was revoked long ago may have left no record, and must not come back.
  if (!(await hasAccount(directory, accountId))) {
    await directory.ensureKey(accountId, key, { name: 'demo' });
    await directory.ensureAccount(accountId, { name: 'demo', plan: 'pro' });
  }
  const payment = { micros: CREDITS * MICROS_PER_CREDIT, id: PAYMENT_ID, note: 'for a start' };
  await directory.addCredits(accountId, payment);
  return key;
}

async function hasAccount({ getAccount }: DemoOptions['directory'], id: string): Promise<boolean> {
  try {
    await getAccount(id);
    return true;
  } catch (error) {
    if (error instanceof DirectoryError && error.code === 'account_not_found') return false;
    throw error;
  }
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
