import type { CatalogueDocument } from '../config/schema/catalogue-schema.ts';
import type { CatalogueDesk } from './catalogue-desk.ts';
import { CatalogueError } from './catalogue-error.ts';

/** Shows the catalogue of a settings file, which alone can change it. */
export function createFileDesk(describe: () => CatalogueDocument): CatalogueDesk {
  const refuse = async () => {
    throw new CatalogueError(
      'catalogue_in_file',
      'models and plans are in the settings file: catalogue: store would keep them in Redis',
    );
  };
  return {
    async read() {
      const nothing = { last: undefined, soldVersion: undefined, refused: undefined };
      return { rules: 'file', document: describe(), ...nothing };
    },
    ...{ preview: refuse, apply: refuse, rollBack: refuse },
    ...{ listVersions: refuse, readVersion: refuse, diff: refuse },
  };
}
