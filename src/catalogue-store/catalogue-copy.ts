import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DATA_FILES } from '../lib/data-files.ts';
import { type StoredVersion, storedVersion } from './catalogue-version.ts';

const copy = z.object({ id: z.string(), versions: z.array(storedVersion) });

/** What a node knows of the catalogue, for a start while Redis is away. */
export interface CatalogueCopy {
  readonly id: string;
  /** The oldest first. */
  readonly versions: readonly StoredVersion[];
}

/** Undefined if the node has none. Throws if the file is broken. */
export function loadCopy(dataDir: string): CatalogueCopy | undefined {
  const path = join(dataDir, DATA_FILES.catalogue);
  if (!existsSync(path)) return undefined;
  try {
    return copy.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const message = `${path} is broken: delete it, and the node takes the catalogue from Redis`;
    throw new Error(message, { cause });
  }
}

/** The file is whole at every moment: the new one takes the place of the old one. */
export function writeCopy(dataDir: string, { id, versions }: CatalogueCopy): void {
  const path = join(dataDir, DATA_FILES.catalogue);
  const stored = versions.map(({ version, fromMs, appliedMs, origin, document }) => {
    return { version, fromMs, appliedMs, origin, document };
  });
  writeFileSync(`${path}.new`, JSON.stringify({ id, versions: stored }), { flush: true });
  renameSync(`${path}.new`, path);
}
