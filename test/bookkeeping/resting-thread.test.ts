import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { keepThread, type ThreadHandle } from '../../src/bookkeeping/keep-thread.ts';
import { createThreadLine } from '../../src/bookkeeping/thread-line.ts';
import type {
  MessageFromAnswerer,
  MessageToAnswerer,
  ThreadOrder,
} from '../../src/bookkeeping/thread-messages.ts';
import { migrateBooks } from '../../src/books/engine/migrate-books.ts';
import type { UsageQuery } from '../../src/books/questions/usage/usage-query.ts';
import { packSecrets } from '../../src/lib/pack-secrets.ts';
import { createBooksOpener, createFileTarget } from '../books/books-scene.ts';
import { useRedis } from '../books/use-redis.ts';
import { standalone, tcp } from '../support/servers/redis-connection.ts';
import { useCleanUp } from '../support/use-clean-up.ts';
import { waitUntil } from '../support/wait-until.ts';

/** As a node runs it. */
const ANSWER_FILE = new URL('../../dist/src/bookkeeping/run-answer-thread.js', import.meta.url);
const STATUS = { keepDays: 90, archive: null };
/** Of the event loop, between the answer to one question and the next. */
const TURNS = [0, 1, 3, 10, 30, 100];
const SLOW_TURNS = 10;

const redis = useRedis();
const cleanUp = useCleanUp();
const threads: ThreadHandle<MessageToAnswerer>[] = [];
afterAll(async () => void (await Promise.all(threads.map((thread) => thread.stop()))));

/** The thread that answers, which rests at the first opportunity. */
async function startAnswerer() {
  const books = createFileTarget(cleanUp);
  await migrateBooks(createBooksOpener(cleanUp)(books), Date.now());
  const seen = { starts: 0, looks: 0, rests: 0, errors: [] as object[] };
  const note = (context: object) => void seen.errors.push(context);
  const order = (): ThreadOrder => {
    seen.starts += 1;
    const target = packSecrets(standalone(tcp(redis.server.port)));
    return { redis: target, books, nodeId: 'node', logLevel: 'error' };
  };
  const isDone = () => {
    const isIdle = line.isIdle();
    if (isIdle) seen.rests += 1;
    else seen.looks += 1;
    return isIdle;
  };
  const thread = keepThread<MessageToAnswerer, MessageFromAnswerer>({
    ...{ file: ANSWER_FILE, order, heapMbMax: 256, rest: { afterMs: 1, isDone } },
    onMessage: (message) => line.take(message),
    onBreak: () => line.breakOff(),
    log: { debug: () => {}, info: () => {}, warn: note, error: note },
  });
  const line = createThreadLine(thread.tell);
  threads.push(thread);
  return { line, seen };
}

it('answers every question, however soon before or after its rest it is asked', async () => {
  const { line, seen } = await startAnswerer();
  for (const turns of TURNS) {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    const answers = await Promise.all([1, 2, 3].map(() => line.ask('readStatus', STATUS)));
    expect(answers).toMatchObject(Array(3).fill({ engine: 'libsql', entries: 0 }));
    const { rests } = seen;
    if (turns >= SLOW_TURNS) await waitUntil(() => seen.rests > rests, 'it rests');
  }
  expect(seen.starts).toBeGreaterThanOrEqual(2);
  expect(seen.errors).toEqual([]);
});

it('does not rest while somebody still reads an answer', async () => {
  const { line, seen } = await startAnswerer();
  const query: UsageQuery = { by: ['day'], fromMs: 0, toMs: 1 };
  const parts = line.stream('exportUsage', query)[Symbol.asyncIterator]();
  expect((await parts.next()).value).toContain('day');
  const { looks } = seen;
  await waitUntil(() => seen.looks > looks + 2, 'it might have rested');
  expect((await parts.next()).done).toBe(true);
  expect(seen.starts).toBe(1);
});
