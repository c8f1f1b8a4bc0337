import { join, resolve } from 'node:path';
import { type ImportReport, importSegments } from '../../../books/import/import-segments.ts';
import { createFindCost } from '../../../catalogue/find-cost.ts';
import { systemClock } from '../../../timers/system-clock.ts';
import { drawProgress } from '../../draw-progress.ts';
import type { Terminal } from '../../terminal.ts';
import { withBooks } from '../../with-books.ts';

interface BooksImportOptions extends Pick<Terminal, 'out' | 'err' | 'progress'> {
  readonly configPath: string | undefined;
  /** Folders of segments. If empty, the one in the data folder. */
  readonly folders: readonly string[];
  readonly json: boolean;
}

/** Takes the segments of earlier versions into the books. Returns 1 if something is missing. */
export async function runBooksImportCommand(options: BooksImportOptions): Promise<number> {
  const { folders, json, out, progress } = options;
  return await withBooks({ ...options, access: 'make' }, async (opened) => {
    const { config, books, connect, signal } = opened;
    const dirs = folders.length === 0 ? [join(config.dataDir, 'ledger')] : folders;
    const report = await importSegments({
      ...{ books, connection: await connect(), dirs: dirs.map((dir) => resolve(dir)) },
      clock: systemClock,
      findCost: createFindCost(config.upstreams),
      signal,
      onProgress: ({ lines, linesTotal }) => progress(drawProgress('entries', lines, linesTotal)),
    });
    progress('');
    out(json ? JSON.stringify(report, undefined, 2) : printReport(report));
    return report.damaged.length + report.gaps === 0 ? 0 : 1;
  });
}

function printReport({ files, lines, entries, payments, damaged, gaps }: ImportReport): string {
  const known = lines - entries - payments - damaged.length;
  return [
    `segments: ${files}, lines read: ${lines}, entries: ${entries}, payments: ${payments}, known before: ${Math.max(0, known)}`,
    ...damaged.map(({ file, line, reason }) => `damaged  ${file}:${line}: ${reason}`),
    ...(gaps > 0
      ? [`missing  ${gaps} stretches that neither the segments nor Redis nor the books have`]
      : []),
    'tollgate ledger verify compares the books with Redis.',
  ].join('\n');
}
