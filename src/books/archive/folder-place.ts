import { access, copyFile, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArchiveStore } from './archive-store.ts';
import { compareHashes, hashFile } from './hash-file.ts';

/** What is being written; never listed. */
const UNFINISHED = '.unfinished';

/**
 * The archive as a folder. The folder itself must exist: then a disk that is not mounted is an
 * error, and no day is archived elsewhere.
 */
export function createFolderPlace(folder: string): ArchiveStore {
  const pathOf = (name: string) => join(folder, name);
  const put = async (name: string, write: (path: string) => Promise<void>) => {
    await access(folder);
    const path = pathOf(name);
    const unfinished = `${path}${UNFINISHED}`;
    await mkdir(dirname(path), { recursive: true });
    await write(unfinished);
    await sync(unfinished);
    await rename(unfinished, path);
    for (let dir = dirname(path); dir.length >= folder.length; dir = dirname(dir)) await sync(dir);
  };
  return {
    title: folder,
    putFile: (name, file) =>
      put(name, async (path) => {
        await copyFile(file.path, path);
        const difference = compareHashes(file, await hashFile(path));
        if (difference !== undefined) throw new Error(`${path} was written wrongly: ${difference}`);
      }),
    putText: (name, text) =>
      put(name, async (path) => {
        const file = await open(path, 'w');
        await file.writeFile(text).finally(() => file.close());
      }),
    readText: (name) => orUndefined(readFile(pathOf(name), 'utf8')),
    list: async (prefix) => {
      const below = await orUndefined(readdir(pathOf(dirname(`${prefix}x`)), LISTING));
      return (below ?? [])
        .filter((entry) => entry.isFile() && !entry.name.endsWith(UNFINISHED))
        .map((entry) => join(entry.parentPath, entry.name).slice(join(folder, '/').length))
        .filter((name) => name.startsWith(prefix))
        .toSorted();
    },
    remove: (name) => rm(pathOf(name), { force: true }),
    bringHere: (name) => orUndefined(access(pathOf(name)).then(() => pathOf(name))),
  };
}

const LISTING = { recursive: true, withFileTypes: true } as const;

/** Makes sure that a file or the names in a folder outlive a crash. */
async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

async function orUndefined<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
