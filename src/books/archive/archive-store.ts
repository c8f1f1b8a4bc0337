import type { FileHash } from './hash-file.ts';

/** Where the archive is kept. Names are paths with slashes, relative to the place. */
export interface ArchiveStore {
  /** For messages. */
  readonly title: string;
  /** Once this resolves, the place was read back and holds exactly this file under the name. */
  putFile(name: string, file: FileHash & { readonly path: string }): Promise<void>;
  putText(name: string, text: string): Promise<void>;
  /** Undefined if there is nothing of that name. */
  readText(name: string): Promise<string | undefined>;
  /** All names with this prefix, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Does nothing if there is nothing of that name. */
  remove(name: string): Promise<void>;
  /**
   * The path of the file on this machine: either its own, which nobody may change, or that of a
   * copy in the folder. Undefined if there is nothing of that name.
   */
  bringHere(name: string, folder: string): Promise<string | undefined>;
}
