import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

export const SMALL_DISK_MB = 32;

const BYTES_OF_A_MB = 1_048_576;

/** Returns what takes the disk away again. */
export function mountDisk(dir: string, sizeMb: number): () => void {
  mkdirSync(dir, { recursive: true });
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', dir]);
  return () => void execFileSync('umount', [dir]);
}

/** Whether this process may mount disks: root may, unless a container forbids it. */
export function mayMount(dir: string): boolean {
  try {
    mountDisk(dir, 1)();
    return true;
  } catch {
    return false;
  }
}

/** Takes all of the room that is left, in one file. */
export function fillDiskWith(path: string): void {
  for (let bytes = SMALL_DISK_MB * BYTES_OF_A_MB; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' });
    } catch {
      // What fits has been written.
    }
  }
}
