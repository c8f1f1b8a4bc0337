import { parentPort, workerData } from 'node:worker_threads';
import { openBooks } from '../books/engine/open-books.ts';
import type { QuestionSource } from '../books/questions/question.ts';
import { createRowBudget, ROWS_HELD_MAX } from '../books/questions/row-budget.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import { unpackSecrets } from '../lib/pack-secrets.ts';
import { createLog } from '../log/create-log.ts';
import { connectRedis } from '../redis/connect-redis.ts';
import { waitForConnection } from '../redis/wait-for-connection.ts';
import { systemClock } from '../timers/system-clock.ts';
import { bindAnswers } from './answers.ts';
import { keepHeapCompact } from './compact-heap.ts';
import { serveQuestions } from './serve-questions.ts';
import type { MessageToAnswerer, ThreadOrder } from './thread-messages.ts';

const COMMAND_TIMEOUT_MS = 2_000;

/** The thread of the primary that answers questions about the books: its composition root. */
if (parentPort !== null) void run(parentPort, workerData as ThreadOrder);

async function run(port: NonNullable<typeof parentPort>, order: ThreadOrder): Promise<void> {
  const log = createLog(order.logLevel, 'books');
  const connection = connectRedis({
    target: unpackSecrets(order.redis) as RedisTarget,
    name: 'primary-books',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log,
  });
  const books = openBooks({ target: order.books, isReader: true, name: 'questions' });
  const source: QuestionSource = { books, connection, clock: systemClock };
  // The thread starts with the first question, which waits at the port until then.
  await waitForConnection(connection, COMMAND_TIMEOUT_MS);
  keepHeapCompact();
  serveQuestions(port, bindAnswers(source, createRowBudget(ROWS_HELD_MAX)));
  port.on('message', ({ type }: MessageToAnswerer) => {
    if (type === 'stop') void close();
  });
  const close = async () => {
    port.close();
    await Promise.allSettled([books.close(), connection.close()]);
  };
}
