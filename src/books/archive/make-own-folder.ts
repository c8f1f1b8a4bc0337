import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes a folder for this call below `tempFolder`. Folders that killed processes left there are
 * removed first.
 */
export async function makeOwnFolder(tempFolder: string): Promise<string> {
  await mkdir(tempFolder, { recursive: true });
  for (const name of await readdir(tempFolder)) {
    const pid = /^of-(\d+)-/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(join(tempFolder, name), { recursive: true, force: true });
  }
  return await mkdtemp(join(tempFolder, `of-${process.pid}-`));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
