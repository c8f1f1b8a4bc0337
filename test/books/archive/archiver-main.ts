import { archiveDay } from '../../../src/books/archive/archive-day.ts';
import { createFolderPlace } from '../../../src/books/archive/folder-place.ts';
import { rowsOf, sourceOf } from './days.ts';

/** The argument of the process, as JSON. */
export interface ArchiverOrder {
  readonly folder: string;
  readonly tempFolder: string;
  readonly rows: number;
  readonly rowsPerFileMax: number;
}

/** Archives a day in its own process, so that a test can kill it. */
const { folder, rows, ...options } = JSON.parse(process.argv[2] ?? '') as ArchiverOrder;
await archiveDay(sourceOf(rowsOf(rows)), createFolderPlace(folder), {
  ...options,
  clock: { nowMs: () => Date.now() },
});
