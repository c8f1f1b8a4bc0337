import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const MINUTE_CHARS = 6;
const RANDOM_CHARS = 18;
const POOL_BYTES = 4_096;

let pool = Buffer.alloc(0);
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
    minutePrefix = `req_${encodeMinute(nowMinute)}`;
  }
  if (poolOffset + RANDOM_CHARS > pool.length) {
    pool = randomBytes(POOL_BYTES);
    poolOffset = 0;
  }
  let id = minutePrefix;
  for (let i = 0; i < RANDOM_CHARS; i++) {
    id += ALPHABET[(pool[poolOffset++] ?? 0) % ALPHABET.length];
  }
  return id;
}

function encodeMinute(value: number): string {
  let rest = value;
  let text = '';
  for (let i = 0; i < MINUTE_CHARS; i++) {
    text = (ALPHABET[rest % ALPHABET.length] ?? '') + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
