import { hash } from 'node:crypto';

/**
 * All that is kept of a key's text. A fast hash is enough: its secret has 190 bits, which nobody can try,
 * where slow hashes are for what people think up.
 */
export function digestKey(key: string): string {
  return hash('sha256', key, 'base64url');
}
