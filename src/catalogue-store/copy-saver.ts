import type { Log } from '../lib/log.ts';
import { type CatalogueCopy, writeCopy } from './catalogue-copy.ts';

/** Keeps the copy on the disk. */
export interface CopySaver {
  save(copy: CatalogueCopy): void;
  /** Writes the copy that the disk did not take, if there is one. */
  retry(): void;
}

export function createCopySaver(dataDir: string, log: Pick<Log, 'warn'>): CopySaver {
  let unsaved: CatalogueCopy | undefined;
  const write = (copy: CatalogueCopy, isFirstTry: boolean) => {
    try {
      writeCopy(dataDir, copy);
      unsaved = undefined;
    } catch (error) {
      unsaved = copy;
      if (isFirstTry) log.warn({ err: error }, 'the copy of the catalogue cannot be written');
    }
  };
  return {
    save: (copy) => write(copy, true),
    retry() {
      if (unsaved !== undefined) write(unsaved, false);
    },
  };
}
