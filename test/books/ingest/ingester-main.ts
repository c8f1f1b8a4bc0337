import { openBooks } from '../../../src/books/engine/open-books.ts';
import type { IngestPace } from '../../../src/books/ingest/ingest-pace.ts';
import { startIngester } from '../../../src/books/ingest/start-ingester.ts';
import { createWorkRests } from '../../../src/books/ingest/work-rests.ts';
import type { BooksTarget } from '../../../src/lib/address/books-target.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { openConnection, standalone, tcp } from '../../support/servers/redis-connection.ts';

/** The argument of the process, as JSON. */
export interface IngesterOrder {
  readonly port: number;
  readonly target: BooksTarget;
  readonly run: string;
  readonly pace: IngestPace;
}

/** An ingester in its own process, so that a test can kill it. It ends with its parent. */
process.stdin.on('close', () => process.exit()).resume();
const { port, target, run, pace } = JSON.parse(process.argv[2] ?? '') as IngesterOrder;
const rests = createWorkRests();
startIngester({
  connection: openConnection(standalone(tcp(port))),
  books: openBooks({ target, isReader: false, name: 'ingester', takeRest: rests.take }),
  rests,
  run,
  clock: { nowMs: () => Date.now() },
  log: createMemoryLog(),
  findCost: () => 100,
  waitingEntries: () => undefined,
  pace,
});
