import { randomBytes } from 'node:crypto';
import { mintApiKey, mintKeyId } from '../../../src/keys/api-key.ts';

/** A key as the gateway mints them, which nobody has. */
export function inventKey(): string {
  return mintApiKey(mintKeyId(9, randomBytes), randomBytes);
}
