import { createHash } from 'node:crypto';

const FINGERPRINT_CHARS = 8;

/** Lets people who know several tokens recognise which one was used. */
export function fingerprintToken(token: string): string {
  const digest = createHash('sha256').update(`tollgate admin token ${token}`);
  return digest.digest('hex').slice(0, FINGERPRINT_CHARS);
}
