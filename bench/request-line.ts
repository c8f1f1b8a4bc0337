/**
 * What one line of the request log costs, in microseconds of this process: by hand, as the log writes it, and by
 * pino with the same fields. Both write to a file. To be run after `npm run build`:
 *
 *   node dist/bench/request-line.js
 *
 * The figures are in `encode-request-line.ts`.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import type { RequestRecord } from '../src/gateway/request-record.ts';
import { createRequestLog } from '../src/request-log/create-request-log.ts';

const LINES = 30_000;
/** Few enough for the queue, and then a pause in which they are written. */
const BURST_LINES = 500;
const PAUSE_MS = 40;
const ROUNDS = 5;

const record: RequestRecord = {
  requestId: 'req_0TtWXsY1bHrZ6mPq3Lx8Kd2V',
  route: 'native',
  trace: undefined,
  keyId: '00Wd6yFAUnU9ywm0',
  maskedKey: 'sk-gw2-…x7Qa',
  model: 'llm-haiku-4.5',
  upstream: 'main',
  tries: [{ upstream: 'main', result: 'ok' }],
  isStream: true,
  status: 200,
  refusal: undefined,
  outcome: 'complete',
  startedMs: 10_000.123_456,
  bodyMs: 10_000.323_1,
  admittedMs: 10_001.223_7,
  firstEventMs: 10_204.023_4,
  endMs: 10_812.523_9,
  upstreamWaitMs: 810.212_3,
  clientWaitMs: 0.612_9,
  usage: { input: 12, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 50, thinking: 0 },
  chargeMicros: 262,
  heldMicros: 530,
  isEstimated: false,
  isUsageMissing: false,
};

async function measure(write: () => void, close: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let line = 0; line < LINES; line += BURST_LINES) {
    for (let each = 0; each < BURST_LINES; each++) write();
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await close();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / LINES;
}

const dir = mkdtempSync(join(tmpdir(), 'tollgate-'));
const file = join(dir, 'log');

async function measureByHand(): Promise<number> {
  const fd = openSync(file, 'w');
  const log = createRequestLog({
    lines: 'all',
    share: 1,
    pid: process.pid,
    from: 'worker 1',
    fd,
    clock: { nowMs: () => Date.now() },
    random: Math.random,
  });
  const micros = await measure(
    () => log.note(record),
    () => log.close(),
  );
  closeSync(fd);
  const written = readFileSync(file, 'latin1').split('\n').length - 1;
  if (written !== LINES) throw new Error(`only ${written} lines were written`);
  return micros;
}

function measurePino(): Promise<number> {
  const base = { pid: process.pid, from: 'worker 1' };
  const timestamp = () => `,"time":"${new Date().toISOString()}"`;
  const log = pino({ base, timestamp }, destination({ dest: file, sync: true }));
  return measure(
    () => log.info(record, 'request'),
    () => Promise.resolve(),
  );
}

for (const [name, run] of [
  ['by hand', measureByHand],
  ['pino', measurePino],
] as const) {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await run());
  const median = rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${name}: ${median.toFixed(2)} us per line`);
}
rmSync(dir, { recursive: true });
