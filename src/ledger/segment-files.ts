import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSegmentHeader, type SegmentHeader } from './segment-header.ts';

const NAME = /^ledger-(\d{12})\.ndjson$/;
const SEQUENCE_CHARS = 12;
/** A file that was being written when its process ended. */
const TEMPORARY_NAME = /^ledger-\d{12}\.ndjson\.tmp$/;
const TEMPORARY_END = '.tmp';
const FILE_MODE = 0o600;
const DIR_MODE = 0o700;

export interface SegmentFile {
  readonly path: string;
  readonly sequence: number;
}

export async function prepareSegmentDir(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true, mode: DIR_MODE });
  for (const name of await readdir(dir)) {
    if (TEMPORARY_NAME.test(name)) await rm(join(dir, name), { force: true });
  }
}

/** In the order of their sequence; none when there is no such folder. */
export async function listSegments(dir: string): Promise<SegmentFile[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const segments: SegmentFile[] = [];
  for (const name of names) {
    const sequence = NAME.exec(name)?.[1];
    if (sequence !== undefined) {
      segments.push({ path: join(dir, name), sequence: Number(sequence) });
    }
  }
  return segments.sort((first, second) => first.sequence - second.sequence);
}

/**
 * Under its name a segment is either whole or absent, also after a power cut.
 *
 *   written as .tmp ──▶ synced ──▶ renamed ──▶ folder synced: durable
 */
export async function writeSegment(
  dir: string,
  header: SegmentHeader,
  chunks: Iterable<Buffer>,
): Promise<void> {
  const path = join(dir, `ledger-${String(header.sequence).padStart(SEQUENCE_CHARS, '0')}.ndjson`);
  const temporaryPath = path + TEMPORARY_END;
  const file = await open(temporaryPath, 'w', FILE_MODE);
  try {
    await file.writeFile(`${JSON.stringify(header)}\n`);
    for (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporaryPath, path);
  const folder = await open(dir, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Throws when the file is no segment, or of a later version. */
export async function readSegmentHeader(path: string): Promise<SegmentHeader> {
  for await (const line of readSegmentLines(path)) return parseSegmentHeader(line);
  throw new Error('the file is empty');
}

/** Line by line, the header too. Only a line feed ends a line: texts may hold other separators. */
export async function* readSegmentLines(path: string): AsyncGenerator<string> {
  const file = await open(path, 'r');
  try {
    let rest = '';
    for await (const chunk of file.createReadStream({ encoding: 'utf8', autoClose: false })) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    await file.close();
  }
}
