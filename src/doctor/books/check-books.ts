import { booksTargetOf } from '../../config/books-target-of.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { CheckName } from '../checks.ts';
import { type Finding, skipCheck } from '../finding.ts';
import { type CheckResult, runCheck } from '../run-check.ts';
import { findStoreTarget } from '../store/check-store.ts';
import { openStore } from '../store/open-store.ts';
import type { BooksAccess } from './books-access.ts';
import { type BooksMemory, judgeIdentity, judgeLag, readBooksMemory } from './books-memory.ts';
import { checkArchive } from './check-archive.ts';
import { checkReachable } from './check-reachable.ts';
import { judgeSchema } from './judge-schema.ts';
import { openFile } from './open-file.ts';
import { openServer } from './open-server.ts';

/** Checks the server of the books, or the file in the data folder. */
export async function checkBooks(config: Config, clock: Clock): Promise<CheckResult[]> {
  const target = booksTargetOf(config);
  const opening = target.kind === 'file' ? openFile(target.dir) : openServer(target);
  const remembering = recallBooks(config);
  opening.catch(() => {});
  const ofBooks = (name: CheckName, run: (books: BooksAccess) => Finding | Promise<Finding>) =>
    runCheck({
      name,
      run: async () => {
        const books = await opening.catch(() => undefined);
        return books === undefined ? skipCheck('the books cannot be reached') : run(books);
      },
    });
  try {
    return await Promise.all([
      runCheck({ name: 'books-reachable', run: () => checkReachable(opening, target.kind) }),
      ofBooks('books-latency', (books) => books.checkLatency()),
      ofBooks('books-version', (books) => books.checkVersion()),
      ofBooks('books-rights', (books) => books.checkRights()),
      ofBooks('books-persistence', (books) => books.checkPersistence()),
      ofBooks('books-schema', ({ contents }) => judgeSchema(contents?.migrations)),
      ofBooks('books-identity', async ({ contents }) =>
        judgeIdentity(contents?.id, await remembering),
      ),
      runCheck({ name: 'books-lag', run: async () => judgeLag(await remembering) }),
      ofBooks('books-clock', (books) => books.checkClock(clock)),
      ofBooks('books-space', (books) => books.checkSpace()),
      runCheck({ name: 'books-archive', run: () => checkArchive(config.books.archive) }),
    ]);
  } finally {
    const books = await opening.catch(() => undefined);
    await books?.close();
  }
}

/** Undefined if Redis does not answer, which other checks report. */
async function recallBooks(config: Config): Promise<BooksMemory | undefined> {
  const target = await findStoreTarget(config);
  if (target === undefined) return undefined;
  try {
    const store = await openStore(target);
    try {
      return await readBooksMemory(store.connection.send);
    } finally {
      await store.close();
    }
  } catch {
    return undefined;
  }
}
