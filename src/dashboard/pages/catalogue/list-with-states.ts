import type { VersionNote } from '../../api/api-types.ts';

export type VersionState = 'in force' | 'scheduled' | 'refused' | 'withdrawn' | 'past';

export interface ListedVersion extends VersionNote {
  readonly state: VersionState;
}

interface SoldVersions {
  /** The version that the node sells. */
  readonly sold: number;
  /** The version that the node should sell, but cannot. */
  readonly refused: number | undefined;
}

/** Adds to each version what became of it. `notes` has the last version first. */
export function listWithStates(
  notes: readonly VersionNote[],
  { sold, refused }: SoldVersions,
): readonly ListedVersion[] {
  return notes.map((note, place) => {
    const { version } = note;
    if (version === sold) return { ...note, state: 'in force' };
    // A version never holds if one that was applied after it does not hold later.
    const isWithdrawn = notes
      .slice(0, place)
      .some((later) => Date.parse(later.from) <= Date.parse(note.from));
    if (isWithdrawn) return { ...note, state: 'withdrawn' };
    if (version < sold) return { ...note, state: 'past' };
    return { ...note, state: version <= (refused ?? 0) ? 'refused' : 'scheduled' };
  });
}
