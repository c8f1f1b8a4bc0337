import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { openArchive } from '../../../books/archive/open-archive.ts';
import { nameDay } from '../../../books/engine/days.ts';
import { followPlace } from '../../../books/retention/follow-place.ts';
import { planRetention, retainBooks } from '../../../books/retention/retain-books.ts';
import type { ConfigSource } from '../../../config/source/read-config-source.ts';
import { systemClock } from '../../../timers/system-clock.ts';
import type { Terminal } from '../../terminal.ts';
import { withBooks } from '../../with-books.ts';

/** In the data folder; room for one file and its rows. */
const TEMP_FOLDER = 'archiving';

interface BooksArchiveOptions extends Terminal {
  readonly configPath: string | undefined;
  readonly readSource: (() => Promise<ConfigSource>) | undefined;
  /** Whether to print what is due, and change nothing. */
  readonly isDryRun: boolean;
  /** Prints a line of JSON for each day. */
  readonly json: boolean;
}

/** The settings that a node uses, which it writes to the standard input. */
export async function readGivenSource(): Promise<ConfigSource> {
  return (await readJson(process.stdin)) as ConfigSource;
}

/** Archives every day that is due. Returns 1 if one of them could not be archived. */
export async function runBooksArchiveCommand(options: BooksArchiveOptions): Promise<number> {
  const { isDryRun, json, out, err, progress } = options;
  const print = (text: string, data: object) => out(json ? JSON.stringify(data) : text);
  return await withBooks({ ...options, access: isDryRun ? 'read' : 'write' }, async (opened) => {
    const { config, books, connect, signal } = opened;
    const { archive, keepMs } = config.books;
    if (archive === undefined) {
      err('tollgate: books.archive is not set, so every day stays in the books');
      return 1;
    }
    const clock = systemClock;
    const retention = { books, connection: await connect(), keepMs, clock };
    if (isDryRun) {
      const days = await planRetention(retention);
      for (const { day } of days) {
        print(`${nameDay(day)} would be archived`, { date: nameDay(day), archived: false });
      }
      if (days.length === 0 && !json) out('No day is due.');
      return 0;
    }
    let [failed, archived] = [0, 0];
    let stage = 'comparing late entries with the archive';
    const showStage = () => progress(stage);
    await retainBooks({
      ...{ ...retention, signal, place: followPlace(openArchive(archive), showStage) },
      tempFolder: join(config.dataDir, TEMP_FOLDER),
      onProgress({ day, done, days, rows }) {
        stage = `archiving ${nameDay(day)} (${done + 1} of ${days} days): ${rows} entries`;
        showStage();
      },
      onArchived({ date, rows, bytes }) {
        archived += 1;
        const data = { date, archived: true, entries: rows, bytes };
        print(`${date} archived: ${rows} entries in ${bytes} bytes`, data);
      },
      onFailure({ day }, { message }) {
        failed += 1;
        err(`tollgate: ${nameDay(day)} stays in the books: ${message}`);
      },
      onForgotten: (counts) => {
        if (counts > 0 && !json) out(`${counts} counts of refusals deleted`);
      },
    });
    if (archived + failed === 0 && !json) out('No day is due.');
    return failed === 0 ? 0 : 1;
  });
}
