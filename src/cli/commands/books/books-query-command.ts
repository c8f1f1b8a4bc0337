import { join } from 'node:path';
import type { ResultFormat } from '../../../books/archive/encode-result.ts';
import { openArchive } from '../../../books/archive/open-archive.ts';
import { queryBooks } from '../../../books/archive/query-books.ts';
import { createLiveDays } from '../../../books/retention/live-days.ts';
import type { Terminal } from '../../terminal.ts';
import { withBooks } from '../../with-books.ts';

/** In the data folder; room for the live days in question. */
const TEMP_FOLDER = 'querying';

interface BooksQueryOptions extends Terminal {
  readonly configPath: string | undefined;
  readonly sql: string;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly format: ResultFormat;
}

/** Prints the answer to a SELECT over all entries, wherever they are. */
export async function runBooksQueryCommand(options: BooksQueryOptions): Promise<number> {
  const { sql, from, to, format, outPaced, progress } = options;
  return await withBooks({ ...options, access: 'read' }, async ({ config, books, signal }) => {
    const { archive } = config.books;
    const pieces = queryBooks(sql, {
      place: archive && openArchive(archive),
      live: createLiveDays(books),
      fromMs: from === undefined ? undefined : Date.parse(from),
      toMs: to === undefined ? undefined : Date.parse(to),
      ...{ format, signal, tempFolder: join(config.dataDir, TEMP_FOLDER) },
      onDay: ({ date, done, days }) => progress(`${date} is read (${done} of ${days} days)`),
    });
    for await (const piece of pieces) {
      // The terminal ends the last line.
      if (piece !== '') await outPaced(piece.replace(/\n$/, ''));
    }
    return 0;
  });
}
