import { createHash } from 'node:crypto';
import type { Secret } from '../../lib/secret.ts';

const FINGERPRINT_CHARS = 8;

/** Tells which of several tokens was used, to those who know them. */
export function fingerprintToken(token: Secret): string {
  const digest = createHash('sha256').update(`tollgate admin token ${token.reveal()}`);
  return digest.digest('hex').slice(0, FINGERPRINT_CHARS);
}
