import { readFileSync } from 'node:fs';

/** The one secret in a file; undefined if there is none. */
export function readSecretFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
