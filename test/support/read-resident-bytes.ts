import { readFileSync } from 'node:fs';

/** The resident memory of a process. */
export function readResidentBytes(pid: number): number {
  const [, kibibytes] =
    /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  if (kibibytes === undefined) throw new Error(`process ${pid} tells no memory`);
  return Number(kibibytes) * 1024;
}
