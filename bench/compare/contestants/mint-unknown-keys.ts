import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mintApiKey, mintKeyId } from '../../../src/keys/api-key.ts';
import { BUCKETS } from '../../../src/keys/bucket-tags.ts';

/** More keys than a worker remembers in the few seconds for which it remembers unknown keys. */
const UNKNOWN_KEYS = 200_000;

/** Well-formed keys that were never issued, so only the store can tell that they are unknown. */
export function mintUnknownKeys(dir: string): { readonly key: string; readonly keysFile: string } {
  const keys = Array.from({ length: UNKNOWN_KEYS }, (_, n) =>
    mintApiKey(mintKeyId(n % BUCKETS, randomBytes), randomBytes),
  );
  const keysFile = join(dir, 'unknown-keys');
  writeFileSync(keysFile, keys.join('\n'));
  return { key: keys[0] ?? '', keysFile };
}
