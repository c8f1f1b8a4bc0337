import { randomBytes } from 'node:crypto';
import { BASE62_DIGITS, encodeBase62 } from '../lib/units/base62.ts';

const MINUTE_CHARS = 6;
const RANDOM_CHARS = 18;
const POOL_CHARS = 4_096;
const BASE62 = BASE62_DIGITS.length;

let pool = '';
let poolOffset = 0;
let minute = -1;
let minutePrefix = '';

/**
 * `req_`, six characters of the minute, eighteen of chance (107 bits). The minute lets the store find
 * the traces of a request by its id alone; the pool makes an id cost a twentieth of twelve fresh random bytes.
 */
export function mintRequestId(nowMs: number): string {
  const nowMinute = Math.floor(nowMs / 60_000);
  if (nowMinute !== minute) {
    minute = nowMinute;
    minutePrefix = `req_${encodeBase62(nowMinute, MINUTE_CHARS)}`;
  }
  if (poolOffset + RANDOM_CHARS > pool.length) {
    const bytes = randomBytes(POOL_CHARS);
    for (let at = 0; at < POOL_CHARS; at++) {
      bytes[at] = BASE62_DIGITS.charCodeAt((bytes[at] ?? 0) % BASE62);
    }
    pool = bytes.toString('latin1');
    poolOffset = 0;
  }
  poolOffset += RANDOM_CHARS;
  return minutePrefix + pool.slice(poolOffset - RANDOM_CHARS, poolOffset);
}
