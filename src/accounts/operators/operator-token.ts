import { createHash } from 'node:crypto';
import { type RandomBytes, randomBase62 } from '../../lib/units/base62.ts';

const OPERATOR_TOKEN_PREFIX = 'tgo_';
/** 43 digits of 62 have 256 bits. */
const SECRET_CHARS = 43;
const TOKEN_PATTERN = /^tgo_[0-9A-Za-z]{43}$/;

export function mintOperatorToken(randomBytes: RandomBytes): string {
  return OPERATOR_TOKEN_PREFIX + randomBase62(SECRET_CHARS, randomBytes);
}

/** Whether this can be the token of an operator, so that it is worth asking Redis. */
export function isOperatorToken(text: string): boolean {
  return TOKEN_PATTERN.test(text);
}

/**
 * The digest of a token or a cookie. Both are random, so a plain digest does not help to guess
 * them.
 */
export function digestSecret(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
