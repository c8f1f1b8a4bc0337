import { hash } from 'node:crypto';

/**
 * Returns all that is kept of a key's text. A fast hash is enough, because the secret has 190 bits
 * and nobody can try them all. Slow hashes are for passwords that people think up.
 */
export function digestKey(key: string): string {
  return hash('sha256', key, 'base64url');
}
