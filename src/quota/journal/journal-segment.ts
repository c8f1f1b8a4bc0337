import { type FileHandle, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../../lib/log.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { decodeJournalRecords } from './journal-record.ts';

/**
 * One file of the journal.
 *
 *   being written ──▶ sealed ──▶ removed, when none of its settlements is left
 *                                or kept as `.damaged`, if a part of it could not be read
 */
export interface JournalSegment {
  readonly number: number;
  readonly path: string;
  /** Settlements in the file that have not been answered. */
  left: number;
  bytes: number;
  /** Whether its settlements are in memory; if not, they are only on the disk. */
  isLoaded: boolean;
  readonly isDamaged: boolean;
}

type Kind = 'log' | 'damaged';

const NAME = /^settlements-(\d{12})\.(log|damaged)$/;

/**
 * The segments of earlier runs, the oldest first, and the highest number ever given to a segment.
 */
export async function openJournalSegments(
  dir: string,
  log: Log,
): Promise<{ segments: JournalSegment[]; lastNumber: number }> {
  const segments: JournalSegment[] = [];
  let lastNumber = 0;
  for (const name of (await readdir(dir)).sort()) {
    const [, digits, kind] = NAME.exec(name) ?? [];
    if (digits === undefined) continue;
    lastNumber = Math.max(lastNumber, Number(digits));
    if (kind === 'log') segments.push(await inspectSegment(dir, Number(digits), log));
  }
  return { segments, lastNumber };
}

/** Cuts off an incomplete last record, and logs damage. */
async function inspectSegment(dir: string, number: number, log: Log): Promise<JournalSegment> {
  const path = pathOf(dir, number, 'log');
  const bytes = await readFile(path);
  const { settlements, endOffset, damages } = decodeJournalRecords(bytes);
  const file = basename(path);
  if (endOffset < bytes.length) {
    await cutOff(path, endOffset);
    const cut = bytes.length - endOffset;
    log.warn({ file, bytes: cut }, 'the last record of the settle journal was torn: cut off');
  }
  for (const damage of damages) {
    log.error({ file, ...damage }, 'the settle journal is damaged: the file will be kept');
  }
  const isDamaged = damages.length > 0;
  return { number, path, left: settlements.length, bytes: endOffset, isLoaded: false, isDamaged };
}

export async function createSegment(
  dir: string,
  number: number,
  isLoaded: boolean,
): Promise<{ segment: JournalSegment; file: FileHandle }> {
  const path = pathOf(dir, number, 'log');
  const file = await open(path, 'ax', 0o600);
  try {
    await syncFolder(dir);
  } catch (error) {
    await file.close();
    await rm(path).catch(() => {});
    throw error;
  }
  return { segment: { number, path, left: 0, bytes: 0, isLoaded, isDamaged: false }, file };
}

export async function readSegment(segment: JournalSegment): Promise<readonly Settlement[]> {
  return decodeJournalRecords(await readFile(segment.path)).settlements;
}

export async function discardSegment(dir: string, segment: JournalSegment): Promise<void> {
  if (segment.isDamaged) await rename(segment.path, pathOf(dir, segment.number, 'damaged'));
  else await rm(segment.path);
}

async function cutOff(path: string, length: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.truncate(length);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** After a power cut a new file exists only if its folder has been synced too. */
async function syncFolder(dir: string): Promise<void> {
  const folder = await open(dir, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function pathOf(dir: string, number: number, kind: Kind): string {
  return join(dir, `settlements-${String(number).padStart(12, '0')}.${kind}`);
}
