import { createHash } from 'node:crypto';

const FINGERPRINT_CHARS = 8;
/** Whoever sees the fingerprint of a shorter token could find the token by trying. */
const TOKEN_CHARS_MIN = 16;

/** Lets people who know several tokens recognise which one was used. */
export function fingerprintToken(token: string): string | null {
  if (token.length < TOKEN_CHARS_MIN) return null;
  const digest = createHash('sha256').update(`tollgate admin token ${token}`);
  return digest.digest('hex').slice(0, FINGERPRINT_CHARS);
}
