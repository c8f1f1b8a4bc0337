import { presentTime } from './simulated-time.ts';

/**
 * Files in memory, with what a power cut does to them: a file keeps the bytes that were synced, and
 * perhaps some of those that followed; a file whose folder was not synced may be gone.
 */
export interface SimulatedDisk {
  /** How long a call takes at most. */
  delayMaxMs: number;
  /** Every write fails, but part of it may have been written. An empty file can still be made. */
  isFull: boolean;
  /** The power is cut: nothing that was not synced is certain. */
  cutPower(): void;
  list(): string[];
  read(path: string): string;
}

interface File {
  bytes: Buffer;
  syncedBytes: number;
  /** Whether the folder has been synced since the file is in it. */
  isNameSynced: boolean;
}

let files = new Map<string, File>();
let disk: SimulatedDisk | undefined;

export function createSimulatedDisk(): SimulatedDisk {
  files = new Map();
  const made: SimulatedDisk = {
    delayMaxMs: 3,
    isFull: false,
    cutPower() {
      const { random } = presentTime();
      for (const [path, file] of files) {
        if (!file.isNameSynced && random.chance(0.5)) {
          files.delete(path);
          continue;
        }
        const { bytes, syncedBytes } = file;
        const kept = random.int(syncedBytes, bytes.length);
        // A file may have grown before the bytes arrived.
        const zeros = random.chance(0.3) ? bytes.length - kept : 0;
        file.bytes = Buffer.concat([bytes.subarray(0, kept), Buffer.alloc(zeros)]);
        file.syncedBytes = file.bytes.length;
        file.isNameSynced = true;
      }
    },
    list: () => [...files.keys()].sort(),
    read: (path) => fileAt(path).bytes.toString('utf8'),
  };
  disk = made;
  return made;
}

function presentDisk(): SimulatedDisk {
  if (disk === undefined) throw new Error('there is no disk');
  return disk;
}

function fileAt(path: string): File {
  const file = files.get(path);
  if (file === undefined) throw systemError('ENOENT', path);
  return file;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code, syscall: 'write' });
}

/** Every call takes a while and then happens at once. */
async function happen<Result>(work: () => Result): Promise<Result> {
  const time = presentTime();
  await time.wait(time.random.next() * presentDisk().delayMaxMs);
  return work();
}

function write(file: File, path: string, bytes: Uint8Array): void {
  const { random } = presentTime();
  if (!presentDisk().isFull) {
    file.bytes = Buffer.concat([file.bytes, bytes]);
    return;
  }
  file.bytes = Buffer.concat([file.bytes, bytes.subarray(0, random.int(0, bytes.length - 1))]);
  throw systemError('ENOSPC', path);
}

function sync(file: File, path: string): void {
  if (presentDisk().isFull) throw systemError('ENOSPC', path);
  file.syncedBytes = file.bytes.length;
}

function openFile(path: string, flags: string) {
  if (flags === 'ax' && files.has(path)) throw systemError('EEXIST', path);
  if (!files.has(path)) {
    if (flags === 'r' || flags === 'r+') throw systemError('ENOENT', path);
    files.set(path, { bytes: Buffer.alloc(0), syncedBytes: 0, isNameSynced: false });
  }
  const file = fileAt(path);
  let isClosed = false;
  const use = (work: () => void) =>
    happen(() => {
      if (isClosed) throw systemError('EBADF', path);
      work();
    });
  return {
    appendFile: (content: Uint8Array | string) =>
      use(() => write(file, path, Buffer.from(content as Uint8Array))),
    datasync: () => use(() => sync(file, path)),
    sync: () => use(() => sync(file, path)),
    truncate: (length: number) =>
      use(() => {
        file.bytes = Buffer.from(file.bytes.subarray(0, length));
        file.syncedBytes = Math.min(file.syncedBytes, length);
      }),
    close: () =>
      use(() => {
        isClosed = true;
      }),
  };
}

function openFolder(path: string) {
  return {
    sync: () =>
      happen(() => {
        for (const [name, file] of files) {
          if (name.startsWith(`${path}/`)) file.isNameSynced = true;
        }
      }),
    close: () => happen(() => {}),
  };
}

/** Stands in for `node:fs/promises`: the calls that the journal makes. */
export const simulatedFs = {
  mkdir: () => happen(() => undefined),
  readdir: (dir: string) =>
    happen(() =>
      [...files.keys()]
        .filter((path) => path.startsWith(`${dir}/`))
        .map((path) => path.slice(dir.length + 1)),
    ),
  readFile: (path: string) => happen(() => Buffer.from(fileAt(path).bytes)),
  rename: (from: string, to: string) =>
    happen(() => {
      files.set(to, fileAt(from));
      files.delete(from);
    }),
  rm: (path: string) =>
    happen(() => {
      fileAt(path);
      files.delete(path);
    }),
  /** Takes no time: whether people are told of a file changes nothing for the others. */
  stat: async (path: string) => ({ size: fileAt(path).bytes.length }),
  open: (path: string, flags: string) =>
    happen(() => (flags === 'r' && !files.has(path) ? openFolder(path) : openFile(path, flags))),
};
