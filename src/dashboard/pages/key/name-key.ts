import type { Key } from '../../api/api-types.ts';

type Named = Pick<Key, 'name' | 'last4'>;

/** What its reader knows it by. */
export function nameKey({ name, last4 }: Named): string {
  return name === '' ? `key …${last4}` : `${name} (…${last4})`;
}
