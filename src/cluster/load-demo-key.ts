import { randomInt } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY_CHARS = 49;

/** The one key of a node that has no accounts yet: made at the first start, kept in the data folder. */
export function loadDemoKey(dataDir: string): string {
  const path = join(dataDir, 'demo-key');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  const chars = Array.from({ length: KEY_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]);
  const key = `sk-gw2-${chars.join('')}`;
  writeFileSync(path, `${key}\n`, { mode: 0o600 });
  return key;
}
