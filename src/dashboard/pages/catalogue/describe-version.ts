import type { VersionNote } from '../../api/api-types.ts';

/** Who made a version. */
export function describeAuthor({ who }: VersionNote): string {
  if (who === null) return 'the settings';
  const by = who.operator?.name ?? who.via;
  return who.address === null ? by : `${by} from ${who.address}`;
}

/** How a version came to be. */
export function describeOrigin({ kind, rolled_back_to: to }: VersionNote): string {
  if (kind === 'seed') return 'first version';
  return kind === 'rollback' ? `back to version ${to}` : 'change';
}
