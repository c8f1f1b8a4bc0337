import { spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { encodeControls } from '../../../src/accounts/key.ts';
import { bucketOfAccount } from '../../../src/keys/account-id.ts';
import { lastFourOf, mintApiKey, mintKeyId, parseApiKey } from '../../../src/keys/api-key.ts';
import { digestKey } from '../../../src/keys/digest-key.ts';
import type { RandomBytes } from '../../../src/lib/units/base62.ts';
import { keysOfBucket } from '../../../src/quota/keys-of-bucket.ts';
import type { CallAdmin } from '../../support/admin-api.ts';
import { CREDITS, createAccount } from './create-account.ts';

/** An account can have at most 10,000 keys. */
const ACCOUNTS = 200;
const RPM = 1_000_000;
const POOL_BYTES = 1 << 20;
/** After at most this many keys, the loop checks whether the writer needs a pause. */
const KEYS_PER_WRITE_MAX = 500;

/**
 * Creates the given number of keys in 200 accounts. Accounts come from the admin API. The records
 * of the keys are written as `write-record.lua` would write them, but in bulk: one at a time would take
 * longer than all scenarios together.
 */
export async function seedKeys(
  count: number,
  admin: CallAdmin,
  dir: string,
  cliArgs: readonly string[],
): Promise<{ readonly key: string; readonly keysFile: string }> {
  const keysFile = join(dir, 'keys');
  const file = createWriteStream(keysFile);
  const cli = spawn('redis-cli', [...cliArgs, '--pipe'], { stdio: ['pipe', 'ignore', 'inherit'] });
  const exited = once(cli, 'exit');
  let first = '';
  const keysPerAccount = count / ACCOUNTS;
  const keysPerWrite = Math.min(keysPerAccount, KEYS_PER_WRITE_MAX);
  for (let account = 0; account < ACCOUNTS; account++) {
    const accountId = await createAccount(admin);
    for (let written = 0; written < keysPerAccount; written += keysPerWrite) {
      const keys = mintKeys(accountId, keysPerWrite);
      first ||= keys[0] ?? '';
      await write(cli.stdin, keys.map((key) => encodeRecord(accountId, key)).join(''));
      await write(file, `${keys.join('\n')}\n`);
    }
  }
  cli.stdin.end();
  file.end();
  const [[code]] = await Promise.all([exited, once(file, 'finish')]);
  if (code !== 0) throw new Error(`redis-cli --pipe ended with ${code}`);
  return { key: first, keysFile };
}

async function write(stream: Writable, text: string): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
}

function mintKeys(accountId: string, count: number): string[] {
  const bucket = bucketOfAccount(accountId) ?? 0;
  return Array.from({ length: count }, () => mintApiKey(mintKeyId(bucket, takeRandom), takeRandom));
}

function encodeRecord(accountId: string, key: string): string {
  const { keyId = '', bucket = 0 } = parseApiKey(key) ?? {};
  const redisKeys = keysOfBucket(bucket);
  const fields = {
    ...{ status: 'active', account: accountId, created: String(Date.now()), version: '1' },
    ...{ digest: digestKey(key), last4: lastFourOf(key) },
    ...encodeControls({ rpm: RPM, capMicros: CREDITS * 1e6 }),
  };
  return (
    encodeCommand('HSET', redisKeys.key(keyId), ...Object.entries(fields).flat()) +
    encodeCommand('SADD', redisKeys.keysOf(accountId), keyId)
  );
}

/** All texts must be ASCII. */
function encodeCommand(...parts: readonly string[]): string {
  return `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join('')}`;
}

const pool = Buffer.alloc(POOL_BYTES);
let taken = POOL_BYTES;

/** Random bytes come from a pool: asking the system for each key would take most of the time. */
const takeRandom: RandomBytes = (count) => {
  if (taken + count > POOL_BYTES) {
    randomFillSync(pool);
    taken = 0;
  }
  taken += count;
  return pool.subarray(taken - count, taken);
};
