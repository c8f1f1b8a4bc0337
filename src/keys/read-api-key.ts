import type { HeaderSource } from '../protocol/format.ts';
import { Refusal } from '../protocol/refusals.ts';

const KEY_PREFIX = 'sk-gw2-';
const KEY_END_CHARS = 4;

/** The key that a request brings, in either of the two ways; of two, `x-api-key` counts. */
export function readApiKey(header: HeaderSource): string {
  const key = header('x-api-key')?.trim() || readBearer(header('authorization'));
  if (key === undefined) throw refuseKey(undefined);
  if (!key.startsWith(KEY_PREFIX)) throw refuseKey(key);
  return key;
}

/** Says no more of a key than its owner needs to know which one it was. */
export function refuseKey(key: string | undefined): Refusal {
  const chatMessage =
    key === undefined
      ? "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY)."
      : `Incorrect API key provided: ${maskKey(key)}.`;
  return new Refusal('unauthenticated', 'invalid x-api-key', {
    chatMessage,
    headers: { 'x-should-retry': 'false' },
  });
}

/** What may be shown of a key. What was masked already stays as it is. */
export function maskKey(key: string): string {
  const isOurs = key.startsWith(KEY_PREFIX) && key.length > KEY_PREFIX.length + KEY_END_CHARS;
  return isOurs ? `${KEY_PREFIX}…${key.slice(-KEY_END_CHARS)}` : '…';
}

function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}
