import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import {
  type OpenedThought,
  type ReasoningVault,
  SEALED_BEGINNING,
} from '../protocol/sealed-reasoning.ts';

/** A longer thought is not passed to clients, which would send it again with each request. */
export const REASONING_BYTES_MAX = 1024 ** 2;

const ALGORITHM = 'aes-256-gcm';
const KEY_MARK_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = KEY_MARK_BYTES + NONCE_BYTES + TAG_BYTES;
/** Base64 takes a third more. */
const SEALED_CHARS_MAX = SEALED_BEGINNING.length + ((REASONING_BYTES_MAX + HEAD_BYTES) * 4) / 3 + 4;

/**
 * Seals thoughts with the first secret and opens them with all, so that a secret can be replaced
 * while thoughts are with clients. Each account has keys of its own, which follow from the secrets.
 * The secrets are asked for each time, because they may come later than the first request.
 *
 *   tg1. + base64url of: mark of the key (4 bytes), nonce (12), tag (16), encrypted thought
 */
export function createReasoningVault(readSecrets: () => readonly string[]): ReasoningVault {
  return {
    sealOf: (accountId) => {
      let keys: readonly Key[] | undefined;
      const readKeys = () => {
        keys ??= readSecrets().map((secret) => deriveKey(secret, accountId));
        return keys;
      };
      return {
        seal: (origin, reasoning) => seal(readKeys()[0], { ...origin, reasoning }),
        open: (sealed) => open(readKeys(), sealed),
        isReady: () => readKeys().length > 0,
      };
    },
  };
}

interface Key {
  readonly mark: Buffer;
  readonly bytes: Buffer;
}

function deriveKey(secret: string, accountId: string): Key {
  const derive = (purpose: string) =>
    createHmac('sha256', secret).update(`tollgate reasoning ${purpose} ${accountId}`).digest();
  return { mark: derive('mark').subarray(0, KEY_MARK_BYTES), bytes: derive('key') };
}

function seal(key: Key | undefined, thought: OpenedThought): string | undefined {
  if (key === undefined) return undefined;
  const plain = Buffer.from(JSON.stringify(thought));
  if (plain.length > REASONING_BYTES_MAX) return undefined;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key.bytes, nonce);
  const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
  const sealed = Buffer.concat([key.mark, nonce, cipher.getAuthTag(), encrypted]);
  return SEALED_BEGINNING + sealed.toString('base64url');
}

function open(keys: readonly Key[], sealed: string): OpenedThought | undefined {
  if (!sealed.startsWith(SEALED_BEGINNING) || sealed.length > SEALED_CHARS_MAX) return undefined;
  const text = sealed.slice(SEALED_BEGINNING.length);
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= HEAD_BYTES || bytes.toString('base64url') !== text) return undefined;
  const mark = bytes.subarray(0, KEY_MARK_BYTES);
  const key = keys.find((other) => other.mark.equals(mark));
  return key === undefined ? undefined : decrypt(key, bytes);
}

function decrypt({ bytes: key }: Key, sealed: Buffer): OpenedThought | undefined {
  const tagStart = KEY_MARK_BYTES + NONCE_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(KEY_MARK_BYTES, tagStart), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(tagStart, HEAD_BYTES));
  try {
    const plain = Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES)), decipher.final()]);
    return JSON.parse(plain.toString('utf8'));
  } catch {
    return undefined;
  }
}
