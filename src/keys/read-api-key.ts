import type { HeaderSource } from '../protocol/format.ts';
import { KEY_PREFIX } from './api-key.ts';
import { refuseKey } from './refuse-key.ts';

/**
 * Reads the key from either of the two headers. If both have one of ours, `x-api-key` counts: a
 * client may send a key of its vendor, left from another use, in the other one.
 */
export function readApiKey(header: HeaderSource): string {
  const key = header('x-api-key')?.trim() || undefined;
  if (key?.startsWith(KEY_PREFIX)) return key;
  const bearer = readBearer(header('authorization'));
  if (bearer?.startsWith(KEY_PREFIX)) return bearer;
  throw refuseKey(key ?? bearer);
}

function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}
