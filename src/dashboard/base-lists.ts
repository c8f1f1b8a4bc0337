import type { BasedOn } from './api/api-types.ts';

/**
 * A list replaces the whole list, so a change with one names the version of its subject that it
 * was made from. Other fields overwrite nothing else that somebody may have changed meanwhile.
 */
export function baseLists<Change extends object>(
  change: Change,
  version: number | undefined,
): Change & BasedOn {
  const hasLists = 'limits' in change || 'user_limits' in change || 'models' in change;
  return hasLists && version !== undefined ? { ...change, base_version: version } : change;
}
