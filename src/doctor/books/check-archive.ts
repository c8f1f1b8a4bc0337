import { randomUUID } from 'node:crypto';
import type { ArchiveStore } from '../../books/archive/archive-store.ts';
import { openArchive } from '../../books/archive/open-archive.ts';
import type { ArchivePlace } from '../../lib/address/books-target.ts';
import { type Finding, failCheck, passCheck, skipCheck } from '../finding.ts';

const TRIAL = 'tollgate doctor\n';
/** Several attempts fit into the time of a check. */
const FIRST_WAIT_MS = 100;

/** Does with a small object what the archiver does with days, and leaves nothing behind. */
export async function checkArchive(settings: ArchivePlace | undefined): Promise<Finding> {
  if (settings === undefined) return skipCheck('there is none: every day stays in the books');
  const archive = openArchive(settings, { firstWaitMs: FIRST_WAIT_MS });
  const name = `doctor-${randomUUID()}`;
  try {
    await tryOut(archive, name);
    return passCheck(archive.title);
  } catch (error) {
    await archive.remove(name).catch(() => {});
    return failCheck(
      `${archive.title}: ${(error as Error).message}`,
      settings.kind === 'folder'
        ? 'Make the folder, and let the user of the node write into it; or name another one as books.archive.'
        : 'Correct books.archive, or let its key write, read, list and remove objects in the bucket.',
    );
  }
}

async function tryOut(archive: ArchiveStore, name: string): Promise<void> {
  await archive.putText(name, TRIAL);
  if ((await archive.readText(name)) !== TRIAL) throw new Error(`${name} is not what was written`);
  if (!(await archive.list(name)).includes(name)) throw new Error(`${name} is not listed`);
  await archive.remove(name);
  if ((await archive.readText(name)) !== undefined) throw new Error(`${name} was not removed`);
}
