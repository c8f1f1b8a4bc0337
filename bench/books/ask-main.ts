/** Asks every question of books that are filled, in a process of its own. */
import { memoryUsage } from 'node:process';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { createRowBudget, ROWS_HELD_MAX } from '../../src/books/questions/row-budget.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import { connectRedis } from '../../src/redis/connect-redis.ts';
import { type Summary, summarise } from '../support/summarise.ts';
import type { Sample } from './make-entries.ts';
import { listQuestions, type TimedQuestion } from './questions.ts';

export interface AskOrder {
  readonly target: BooksTarget;
  readonly redisSocket: string;
  readonly startMs: number;
  readonly days: number;
  readonly samples: readonly Sample[];
}

export interface Asked {
  readonly times: readonly AskedTimes[];
  readonly residentBytesMax: number;
}

interface AskedTimes {
  readonly name: string;
  /** About a thousand requests, most of which nobody has asked for since they were written. */
  readonly first: Summary;
  /** About the same ones once more, which the engine or the system has in memory. */
  readonly again: Summary;
}

/** The ninety-ninth percentile of a hundred times would be the second worst of them. */
const TIMES_MAX = 1_000;
const ASKED_FOR_MAX_MS = 20_000;
const silent = () => {};

process.once('message', (order: AskOrder) => {
  void askAll(order).then((asked) => process.send?.(asked, () => process.exit()));
});

async function askAll({ target, redisSocket, startMs, days, samples }: AskOrder): Promise<Asked> {
  const books = openBooks({ target, isReader: true, name: 'bench' });
  const connection = connectRedis({
    target: unixRedisTarget(redisSocket),
    name: 'bench',
    commandTimeoutMs: 1_000,
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const source = { books, connection, clock: { nowMs: () => Date.now() } };
  const budget = createRowBudget(ROWS_HELD_MAX);
  const times: AskedTimes[] = [];
  let residentBytesMax = 0;
  const askMany = async (ask: TimedQuestion['ask']) => {
    const tookMs: number[] = [];
    const startedMs = performance.now();
    for (let n = 0; n < TIMES_MAX; n++) {
      if (performance.now() - startedMs > ASKED_FOR_MAX_MS) break;
      const sample = samples[n % samples.length];
      if (sample === undefined) throw new Error('there is nothing to ask about');
      const askedMs = performance.now();
      const share = budget.open();
      await ask({ ...source, share }, sample);
      share.end();
      tookMs.push(performance.now() - askedMs);
      residentBytesMax = Math.max(residentBytesMax, memoryUsage.rss());
    }
    return summarise(tookMs);
  };
  for (const { name, ask } of listQuestions(startMs, days)) {
    times.push({ name, first: await askMany(ask), again: await askMany(ask) });
  }
  await books.close();
  await connection.close();
  return { times, residentBytesMax };
}
