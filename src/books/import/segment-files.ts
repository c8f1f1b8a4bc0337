import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseSegmentHeader, type SegmentHeader } from './segment-header.ts';

const NAME = /^ledger-(\d{12})\.ndjson$/;

interface SegmentFile {
  readonly path: string;
  readonly sequence: number;
}

/** In the order of their sequence. Rejects when there is no such folder. */
export async function listSegments(dir: string): Promise<SegmentFile[]> {
  const segments: SegmentFile[] = [];
  for (const name of await readdir(dir)) {
    const sequence = NAME.exec(name)?.[1];
    if (sequence !== undefined) {
      segments.push({ path: join(dir, name), sequence: Number(sequence) });
    }
  }
  return segments.sort((first, second) => first.sequence - second.sequence);
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
