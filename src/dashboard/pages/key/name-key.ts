import type { Key } from '../../api-types.ts';

type Named = Pick<Key, 'name' | 'last4' | 'status' | 'expires_at'>;

/** What its reader knows it by. */
export function nameKey({ name, last4 }: Named): string {
  return name === '' ? `key …${last4}` : `${name} (…${last4})`;
}

export function stateOfKey({ status, expires_at: expiresAt }: Named, nowMs: number): string {
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= nowMs;
  return status === 'active' && isOver ? 'expired' : status;
}
