/**
 * `books [--entries N] [--accounts N] [--keys N] [--days N] [--engines libsql,postgres] [--keep DIR]`
 * fills the books as ingestion does and asks them every question. It starts a Postgres of its own.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBooks } from '../../src/books/engine/open-books.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { startPostgres } from '../../test/support/servers/start-postgres.ts';
import type { Asked, AskOrder } from '../books/ask-main.ts';
import { closeMonths } from '../books/close-months.ts';
import { describeBooks } from '../books/describe-books.ts';
import { fillBooks } from '../books/fill-books.ts';
import { measureSizes } from '../books/measure-size.ts';
import { endProcess, startRedis } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

const ASK_PROGRAM = 'dist/bench/books/ask-main.js';
const DAY_MS = 86_400_000;
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    entries: { type: 'string', default: '10000000' },
    accounts: { type: 'string', default: '1000' },
    keys: { type: 'string', default: '5000' },
    days: { type: 'string', default: '30' },
    engines: { type: 'string', default: 'libsql,postgres' },
    keep: { type: 'string' },
  },
});
const days = Number(values.days);
const size = {
  entries: Number(values.entries),
  accounts: Number(values.accounts),
  keys: Number(values.keys),
  days,
  startMs: (Math.floor(Date.now() / DAY_MS) - days) * DAY_MS,
};

const undo: (() => void | Promise<void>)[] = [];
const cleanUp = (step: () => void | Promise<void>) => void undo.unshift(step);

async function createTarget(engine: string): Promise<BooksTarget> {
  if (engine === 'postgres') {
    const { url } = await startPostgres(cleanUp, ['-c', 'fsync=on']);
    return { kind: 'postgres', url, connectionsMax: 4 };
  }
  return { kind: 'file', dir: values.keep ?? createDir() };
}

function createDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  cleanUp(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** In a process of its own, so that its memory is that of asking. */
async function askAll(order: AskOrder): Promise<Asked> {
  const child = fork(ASK_PROGRAM);
  child.send(order);
  const [asked] = (await once(child, 'message')) as [Asked];
  return asked;
}

async function measure(engine: string) {
  const target = await createTarget(engine);
  const { samples, ...filled } = await fillBooks(target, size, (part, rowsPerSecond) =>
    console.error(`${engine}: ${part * 10} %, ${rowsPerSecond.toFixed(0)} rows/s`),
  );
  const closeSeconds = await closeMonths(target);
  const books = openBooks({ target, isReader: true, name: 'bench' });
  const sizes = await measureSizes(books);
  await books.close();
  const redisDir = createDir();
  const redis = startRedis(redisDir);
  cleanUp(async () => void (await endProcess(redis)));
  const { startMs } = size;
  const asked = await askAll({
    ...{ target, samples, startMs, days, redisSocket: join(redisDir, 'redis.sock') },
  });
  return { engine, ...filled, closeSeconds, sizes, asked };
}

try {
  const results: Awaited<ReturnType<typeof measure>>[] = [];
  for (const engine of values.engines.split(',')) {
    results.push(await measure(engine));
    for (const step of undo.splice(0)) await step();
    // An engine takes long: what is known stays if the next one is ended.
    writeResult('books', describeBooks(size, results), { size, results });
  }
} finally {
  for (const step of undo.splice(0)) await step();
}
process.exit();
