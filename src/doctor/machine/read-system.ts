import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

const FILES_LINE = /^Max open files +(\d+|unlimited)/m;

/** The limit of a process, by default of this one. Undefined if the system does not report it. */
export function readOpenFilesLimit(pid = 'self'): number | undefined {
  const limit = FILES_LINE.exec(readFile(`/proc/${pid}/limits`))?.[1];
  if (limit === undefined) return undefined;
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

export function readAcceptQueueMax(): number | undefined {
  return Number.parseInt(readFile('/proc/sys/net/core/somaxconn'), 10) || undefined;
}

export function countCpus(): number {
  return availableParallelism();
}

/** The memory of this machine or, if that is less, of this container. */
export function readMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
