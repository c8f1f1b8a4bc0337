import { createHmac } from 'node:crypto';
import type { Secret } from '../lib/secret.ts';

const DIGEST_CHARS = 22;

/**
 * All that is kept of an end user's name. Names are often addresses that can be guessed; with a
 * secret, those who read the store cannot find out by trying. 22 characters are 132 bits.
 */
export function digestEndUser(name: string, secret: Secret | undefined): string {
  const hmac = createHmac('sha256', secret?.reveal() ?? '');
  return hmac.update(name).digest('base64url').slice(0, DIGEST_CHARS);
}
