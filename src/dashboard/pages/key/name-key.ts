import type { Key } from '../../api/api-types.ts';

type KeyName = Pick<Key, 'name' | 'last4'>;

/** What its reader knows it by. */
export function nameKey({ name, last4 }: KeyName): string {
  return name === '' ? `key …${last4}` : `${name} (…${last4})`;
}
