/**
 * `archive [ENTRIES]` fills one old day of books in a file and archives it, with a process of its
 * own as a node does. It tells how much memory and time that takes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBooks } from '../../src/books/engine/open-books.ts';
import { claimBooks, holdBooksLease } from '../../src/books/stream/books-lease.ts';
import { readIngestion } from '../../src/books/writing/write-batch.ts';
import type { BooksTarget } from '../../src/lib/address/books-target.ts';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import { connectRedis } from '../../src/redis/connect-redis.ts';
import { waitForConnection } from '../../src/redis/wait-for-connection.ts';
import { fillBooks } from '../books/fill-books.ts';
import { endProcess, startRedis } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

const ENTRIES = Number(process.argv[3] ?? 1_000_000);
const PROGRAM = 'dist/src/main.js';
/** As the primary starts it. */
const HEAP = '--max-old-space-size=192';
const DAY_MS = 86_400_000;
const DAYS_AGO = 100;
const SAMPLE_MS = 50;
const CONNECT_MAX_MS = 5_000;
const KB_PER_MB = 1_000;
const silent = () => {};

const dir = mkdtempSync(join(tmpdir(), 'tollgate-archive-'));
const redis = startRedis(dir);

async function prepare(): Promise<string> {
  const target: BooksTarget = { kind: 'file', dir: join(dir, 'books') };
  const startMs = (Math.floor(Date.now() / DAY_MS) - DAYS_AGO) * DAY_MS;
  const size = { entries: ENTRIES, accounts: 1_000, keys: 5_000, days: 1, startMs };
  await fillBooks(target, size, (part) => console.error(`${part * 10} % filled`));
  const socket = join(dir, 'redis.sock');
  const connection = connectRedis({
    ...{ target: unixRedisTarget(socket), name: 'bench', commandTimeoutMs: 10_000 },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const books = openBooks({ target, isReader: true, name: 'bench' });
  await waitForConnection(connection, CONNECT_MAX_MS);
  const { books: booksId } = await readIngestion(books);
  await books.close();
  await claimBooks(connection, booksId);
  const lease = { run: 'bench 1', leaseMs: 600_000, booksId };
  await holdBooksLease(connection, { ...lease, untilMs: Date.now(), waitingEntries: 0 });
  await connection.close();
  const [config, archive] = [join(dir, 'tollgate.yaml'), join(dir, 'archive')];
  mkdirSync(archive);
  writeFileSync(
    config,
    `redis: {url: "unix://${socket}"}\ndata_dir: ${dir}\nbooks: {keep: 90d, archive: {folder: ${archive}}}\n`,
  );
  return config;
}

async function archive(config: string) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [HEAP, PROGRAM, 'books', 'archive', '--config', config], {
    stdio: 'inherit',
  });
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, readPeakMb(child.pid));
  }, SAMPLE_MS);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error('the day was not archived');
  return { peakMb, seconds: (performance.now() - startedMs) / 1_000 };
}

/** What the kernel has counted at most so far. */
function readPeakMb(pid = 0): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / KB_PER_MB;
  } catch {
    return 0;
  }
}

try {
  const config = await prepare();
  const { size } = statSync(join(dir, 'books', 'books.db'));
  const { peakMb, seconds } = await archive(config);
  const text = [
    '| entries of the day | file MB | archiver: at most MB | seconds |',
    '|--:|--:|--:|--:|',
    `| ${ENTRIES} | ${(size / 1e6).toFixed(0)} | ${peakMb.toFixed(0)} | ${seconds.toFixed(0)} |`,
  ].join('\n');
  writeResult('archive', text, { entries: ENTRIES, peakMb, seconds });
} finally {
  await endProcess(redis);
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
