import { createHash } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';

const FINGERPRINT_CHARS = 8;

/** Lets people who know several tokens recognise which one was used. */
export function fingerprintToken(token: Secret): string {
  const digest = createHash('sha256').update(`tollgate admin token ${token.reveal()}`);
  return digest.digest('hex').slice(0, FINGERPRINT_CHARS);
}
