import type { Key } from '../../api/api-types.ts';

type KeyName = Pick<Key, 'name' | 'last4'>;

/** The name by which an operator knows the key. */
export function nameKey({ name, last4 }: KeyName): string {
  return name === '' ? `key …${last4}` : `${name} (…${last4})`;
}
