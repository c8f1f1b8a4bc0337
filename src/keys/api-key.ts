import { decodeBase62, encodeBase62, type RandomBytes, randomBase62 } from '../lib/units/base62.ts';
import { BUCKETS } from './bucket-tags.ts';
import { crc32 } from './checksum.ts';

/**
 * The text of a key:
 *
 *   sk-gw2-  AA bbbbbbbbb  cccccccccccccccccccccccccccccccc  dddddd
 *            bucket, id    secret of 190 bits                CRC-32 of all before it
 *            └── key id ──┘
 *
 * The bucket leads to the store's node without a look-up. The checksum catches typing errors
 * without asking the store.
 */
export const KEY_PREFIX = 'sk-gw2-';
const BUCKET_CHARS = 2;
const ID_CHARS = 11;
const SECRET_CHARS = 32;
const CHECKSUM_CHARS = 6;
const CHARS_SHOWN = 4;
const ID_PATTERN = /^[0-9A-Za-z]{11}$/;
/** Prefix, id, secret and checksum. */
const KEY_PATTERN = /^sk-gw2-[0-9A-Za-z]{49}$/;

interface ParsedApiKey {
  readonly keyId: string;
  readonly bucket: number;
}

export function mintKeyId(bucket: number, randomBytes: RandomBytes): string {
  return encodeBase62(bucket, BUCKET_CHARS) + randomBase62(ID_CHARS - BUCKET_CHARS, randomBytes);
}

/** Mints a key with a new secret. If the id is the same, its controls, spending and cap stay. */
export function mintApiKey(keyId: string, randomBytes: RandomBytes): string {
  const body = KEY_PREFIX + keyId + randomBase62(SECRET_CHARS, randomBytes);
  return body + checksumOf(body);
}

/** Undefined if nobody can have been given this key. */
export function parseApiKey(key: string): ParsedApiKey | undefined {
  if (!KEY_PATTERN.test(key)) return undefined;
  const body = key.slice(0, -CHECKSUM_CHARS);
  if (key.slice(-CHECKSUM_CHARS) !== checksumOf(body)) return undefined;
  const keyId = key.slice(KEY_PREFIX.length, KEY_PREFIX.length + ID_CHARS);
  const bucket = decodeBase62(keyId.slice(0, BUCKET_CHARS));
  return bucket < BUCKETS ? { keyId, bucket } : undefined;
}

/** Undefined if this cannot be the id of a key. */
export function bucketOfKey(keyId: string): number | undefined {
  if (!ID_PATTERN.test(keyId)) return undefined;
  const bucket = decodeBase62(keyId.slice(0, BUCKET_CHARS));
  return bucket < BUCKETS ? bucket : undefined;
}

/** The part of a key that may be shown. A key that is already masked stays as it is. */
export function maskKey(key: string): string {
  const isOurs = key.startsWith(KEY_PREFIX) && key.length > KEY_PREFIX.length + CHARS_SHOWN;
  return isOurs ? `${KEY_PREFIX}…${key.slice(-CHARS_SHOWN)}` : '…';
}

/** The only part of a secret that is ever shown or kept again. */
export function lastFourOf(key: string): string {
  return key.slice(-CHARS_SHOWN);
}

function checksumOf(body: string): string {
  return encodeBase62(crc32(body), CHECKSUM_CHARS);
}
