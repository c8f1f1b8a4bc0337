import type { ArchiveStore } from '../archive/archive-store.ts';

/** The same place, in which nothing is changed when `confirm` throws. */
export function guardPlace(place: ArchiveStore, confirm: () => Promise<void>): ArchiveStore {
  return {
    ...place,
    async putFile(name, file) {
      await confirm();
      await place.putFile(name, file);
    },
    async putText(name, text) {
      await confirm();
      await place.putText(name, text);
    },
    async remove(name) {
      await confirm();
      await place.remove(name);
    },
  };
}
