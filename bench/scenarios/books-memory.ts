/**
 * `books-memory [ENTRIES [DIR]]` tells what the primary of a node takes that has its books in a
 * file: idle, while entries come in, and after questions. It fails above the goal. The books are new
 * ones, or those that `books --keep DIR` left.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBooksProgress } from '../../src/books/stream/books-lease.ts';
import { unixRedisTarget } from '../../src/lib/address/redis-target.ts';
import { connectRedis } from '../../src/redis/connect-redis.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { fillStreams } from '../books/fill-streams.ts';
import { spawnNode } from '../soak/start-soak-nodes.ts';
import { type CallAdmin, createAdminApi } from '../support/admin-api.ts';
import { endProcess, isReady, startRedis } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

const ENTRIES = Number(process.argv[3] ?? 100_000);
const BOOKS_DIR = process.argv[4];
const GOAL_MB = 150;
const START_MAX_MS = 60_000;
const INGEST_MAX_MS = 600_000;
const SETTLE_MS = 10_000;
/** Longer than the thread that answers stays when nobody asks. */
const REST_MS = 80_000;
const SAMPLE_MS = 100;
const TIMES = 50;
const ACCOUNTS = 100;
const KB_PER_MB = 1_000;
const silent = () => {};

interface Phase {
  readonly name: string;
  readonly maxMb: number;
  readonly endMb: number;
}

// As the image and the service of systemd have it.
process.env['MALLOC_ARENA_MAX'] ??= '1';
process.env['NODE_OPTIONS'] ??= '--max-semi-space-size=2';

const dir = mkdtempSync(join(tmpdir(), 'tollgate-memory-'));
const redis = startRedis(dir);
const socket = join(dir, 'redis.sock');
const shared = `workers: 1\nredis: {url: "unix://${socket}"}\nlog_level: error\n`;
const nodeDir = join(dir, 'node');
if (BOOKS_DIR !== undefined) useBooks(BOOKS_DIR);
const { child, node } = await spawnNode(nodeDir, 'node', shared);

function useBooks(booksDir: string): void {
  const dataDir = join(nodeDir, 'data');
  mkdirSync(dataDir, { recursive: true });
  symlinkSync(resolve(booksDir), join(dataDir, 'books'));
}

function readMb(): number {
  const status = readFileSync(`/proc/${node.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / KB_PER_MB;
}

async function watch(name: string, work: () => Promise<void>): Promise<Phase> {
  let maxMb = readMb();
  const timer = setInterval(() => {
    maxMb = Math.max(maxMb, readMb());
  }, SAMPLE_MS);
  try {
    await work();
    await sleep(SETTLE_MS);
    return { name, maxMb, endMb: readMb() };
  } finally {
    clearInterval(timer);
  }
}

async function askEverything(call: CallAdmin): Promise<void> {
  const month = new Date().toISOString().slice(0, 'yyyy-mm'.length);
  const { data } = await call<{ data: { id: string; account: string }[] }>(
    'GET',
    `/requests?limit=${TIMES}`,
  );
  for (const { id, account } of data) {
    await call('GET', `/requests/${id}`);
    await call('GET', `/requests?limit=50&account=${account}`);
    await call('GET', `/usage?by=day&account=${account}`);
    await call('GET', `/usage?by=key,model&account=${account}`);
    await call('GET', '/usage?by=day,model');
    await call('GET', '/usage?by=account&order=charged&limit=10');
    await call('GET', `/accounts/${account}/statements/${month}`);
    await call('GET', '/books');
  }
}

async function run(): Promise<void> {
  const opsPort = Number(new URL(node.opsUrl).port);
  await waitUntil(() => isReady(opsPort), 'the node is ready', START_MAX_MS);
  const connection = connectRedis({
    ...{ target: unixRedisTarget(socket), name: 'bench', commandTimeoutMs: 10_000 },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
  const token = readFileSync(join(node.dataDir, 'admin-token'), 'utf8').trim();
  const call = createAdminApi(node.opsUrl, token);
  const accounts: string[] = [];
  while (accounts.length < ACCOUNTS) {
    const account = { name: `customer ${accounts.length}`, plan: 'pro' };
    accounts.push((await call<{ id: string }>('POST', '/accounts', account)).id);
  }
  const phases = [await watch('idle', async () => {})];
  phases.push(
    await watch(`${ENTRIES} entries come in`, async () => {
      await fillStreams(connection, ENTRIES, accounts);
      const filledMs = Date.now();
      // As in the books, and not asked of the node, whose thread for questions sleeps yet.
      await waitUntil(
        async () => ((await readBooksProgress(connection))?.untilMs ?? 0) > filledMs,
        'all is in the books',
        INGEST_MAX_MS,
      );
    }),
  );
  phases.push(await watch('questions', () => askEverything(call)));
  phases.push(await watch('nobody asks any more', () => sleep(REST_MS)));
  await connection.close();
  const rows = phases.map(
    ({ name, maxMb, endMb }) => `| ${name} | ${maxMb.toFixed(0)} | ${endMb.toFixed(0)} |`,
  );
  const head = ['| primary, VmRSS in MB | at most | at the end |', '|---|--:|--:|'];
  writeResult('books-memory', [...head, ...rows].join('\n'), { entries: ENTRIES, phases });
  if (phases.some(({ maxMb }) => maxMb >= GOAL_MB)) {
    console.error(`above the goal of ${GOAL_MB} MB`);
    process.exitCode = 1;
  }
}

try {
  await run();
} finally {
  await endProcess(child);
  await endProcess(redis);
  rmSync(dir, { recursive: true, force: true });
}
process.exit();
