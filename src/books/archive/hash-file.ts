import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

export interface FileHash {
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

export async function hashFile(path: string): Promise<FileHash> {
  return await hashStream(createReadStream(path));
}

export async function hashStream(stream: Readable): Promise<FileHash> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** Describes how a file differs from what it should be; undefined if it does not. */
export function compareHashes(expected: FileHash, found: FileHash): string | undefined {
  if (found.bytes !== expected.bytes) {
    return `it has ${found.bytes} bytes, not ${expected.bytes}`;
  }
  return found.sha256 === expected.sha256 ? undefined : 'its SHA-256 differs';
}
