import type { ArchiveStore } from '../archive/archive-store.ts';
import { compareHashes, hashFile } from '../archive/hash-file.ts';
import type { Manifest } from '../archive/manifest.ts';

/** The paths of the files of an archived day on this machine. Throws if one is damaged. */
export async function bringDayHere(
  place: ArchiveStore,
  { parts }: Pick<Manifest, 'parts'>,
  folder: string,
): Promise<string[]> {
  const paths: string[] = [];
  for (const part of parts) {
    const path = await place.bringHere(part.name, folder);
    const difference =
      path === undefined ? 'it is missing' : compareHashes(part, await hashFile(path));
    if (path === undefined || difference !== undefined) {
      throw new Error(`${place.title}: ${part.name} is damaged: ${difference}`);
    }
    paths.push(path);
  }
  return paths;
}
