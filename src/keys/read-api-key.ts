import type { HeaderSource } from '../protocol/format.ts';
import { KEY_PREFIX } from './api-key.ts';
import { refuseKey } from './refuse-key.ts';

/** Reads the key from either of the two headers. If both have one, `x-api-key` counts. */
export function readApiKey(header: HeaderSource): string {
  const key = header('x-api-key')?.trim() || readBearer(header('authorization'));
  if (key === undefined) throw refuseKey(undefined);
  if (!key.startsWith(KEY_PREFIX)) throw refuseKey(key);
  return key;
}

function readBearer(authorization: string | undefined): string | undefined {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}
