import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyBooks } from '../../../books/copy/copy-books.ts';
import { BOOKS_FILE, openBooks } from '../../../books/engine/open-books.ts';
import { DATA_FILES } from '../../../lib/data-files.ts';
import { drawProgress } from '../../draw-progress.ts';
import type { Terminal } from '../../terminal.ts';
import { withBooks } from '../../with-books.ts';

interface BooksCopyOptions extends Pick<Terminal, 'out' | 'err' | 'progress'> {
  readonly configPath: string | undefined;
  /** The folder of the file; by default that of the books in the data folder. */
  readonly folder: string | undefined;
  readonly json: boolean;
}

/** Copies books from a file into the Postgres of the settings. Returns 1 if a sum differs. */
export async function runBooksCopyCommand(options: BooksCopyOptions): Promise<number> {
  const { folder, json, out, err, progress } = options;
  return await withBooks({ ...options, access: 'make' }, async ({ config, books, signal }) => {
    if (books.engine !== 'postgres') {
      throw new Error('books.url is not set: name the database to copy to');
    }
    const dir = resolve(folder ?? join(config.dataDir, DATA_FILES.books));
    if (!existsSync(join(dir, BOOKS_FILE))) throw new Error(`there is no ${join(dir, BOOKS_FILE)}`);
    const from = openBooks({ target: { kind: 'file', dir }, isReader: true, name: 'copy' });
    try {
      const report = await copyBooks({
        ...{ from, to: books, signal },
        onProgress: ({ done, total }) => progress(drawProgress('rows', done, total)),
      });
      progress('');
      const { differences, rows } = report;
      if (json) out(JSON.stringify(report));
      for (const name of differences) err(`tollgate: the sums of ${name} differ`);
      if (differences.length > 0) return 1;
      if (!json) out(`${rows} rows copied. tollgate books claim lets the entries go there.`);
      return 0;
    } finally {
      await from.close();
    }
  });
}
