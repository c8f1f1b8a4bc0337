import type { Log } from '../lib/log.ts';
import type { RefusalBatch } from '../lib/refusal-batch.ts';
import { keepReport } from './keep-report.ts';
import { keepThread } from './keep-thread.ts';
import { createThreadLine, type ThreadLine } from './thread-line.ts';
import type {
  IngestOrder,
  IngestReport,
  MessageFromAnswerer,
  MessageFromIngester,
  MessageToAnswerer,
  MessageToIngester,
  UpstreamCosts,
} from './thread-messages.ts';

/** For each thread. A question that needs more fails, and its thread is replaced. */
const HEAP_MB_MAX = 256;
/** An open dashboard asks more often. */
const REST_AFTER_MS = 60_000;

const INGEST_FILE = new URL('./run-ingest-thread.js', import.meta.url);
const ANSWER_FILE = new URL('./run-answer-thread.js', import.meta.url);

/**
 * The two threads of a node that work on the books: one writes, and one answers while questions are
 * asked.
 */
export interface BooksThreads {
  readonly questions: Pick<ThreadLine, 'ask' | 'stream'>;
  /** The last report; undefined before the first one, and while the thread stands still. */
  report(): IngestReport | undefined;
  noteMasterChange(): void;
  noteRefusals(batch: RefusalBatch): void;
  changeCosts(costs: UpstreamCosts): void;
  stop(): Promise<void>;
}

export function startBooksThreads(order: IngestOrder, log: Log): BooksThreads {
  const kept = keepReport();
  let { costs } = order;
  const ingester = keepThread<MessageToIngester, MessageFromIngester>({
    file: INGEST_FILE,
    order: () => ({ ...order, costs }),
    heapMbMax: HEAP_MB_MAX,
    onMessage: ({ state }) => kept.note(state),
    onBreak: kept.forget,
    log,
  });
  const answerer = keepThread<MessageToAnswerer, MessageFromAnswerer>({
    file: ANSWER_FILE,
    order: () => order,
    heapMbMax: HEAP_MB_MAX,
    onMessage: (message) => line.take(message),
    onBreak: () => line.breakOff(),
    // Only the dashboard and commands ask questions.
    rest: { afterMs: REST_AFTER_MS, isDone: () => line.isIdle() },
    log,
  });
  const line = createThreadLine(answerer.tell);

  return {
    questions: line,
    report: kept.read,
    noteMasterChange: () => ingester.tell({ type: 'master_change' }),
    noteRefusals: (batch) => ingester.tell({ type: 'refusals', batch }),
    changeCosts(changed) {
      costs = changed;
      ingester.tell({ type: 'costs', costs });
    },
    async stop() {
      await Promise.all([ingester.stop(), answerer.stop()]);
      line.breakOff();
    },
  };
}
