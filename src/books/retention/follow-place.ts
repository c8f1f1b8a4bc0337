import type { ArchiveStore } from '../archive/archive-store.ts';

/** The same place, which also reports whenever a file has been written or brought here. */
export function followPlace(place: ArchiveStore, onFile: () => void): ArchiveStore {
  return {
    ...place,
    async putFile(name, file) {
      await place.putFile(name, file);
      onFile();
    },
    async bringHere(name, folder) {
      const path = await place.bringHere(name, folder);
      onFile();
      return path;
    },
  };
}
