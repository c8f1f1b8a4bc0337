import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Aim } from '../aim.ts';
import type { Drive, Meter, Outcome } from '../scenario.ts';
import type { StreamOrder, StreamReport } from './stream-load-main.ts';

const PROGRAM = 'dist/bench/compare/generators/stream-load-main.js';
const OPEN_GRACE_MS = 60_000;
const REPORT_MAX_MS = 10_000;
/**
 * An overloaded contestant leaves some streams waiting for ever. The report says how many were
 * open.
 */
const OPEN_SHARE_MIN = 0.9;
const MS_PER_SECOND = 1_000;

/**
 * Keeps this many streams open at all times: when a stream ends, the next begins. Measuring starts
 * once they are open.
 */
export async function runStreams(
  aim: Aim,
  { streams, opensPerSecond }: Extract<Drive, { readonly kind: 'open-streams' }>,
  seconds: number,
  meter: Meter,
): Promise<Outcome> {
  const { port, path, headers, body, marks } = aim;
  const file = join(aim.dir, 'streams.json');
  const order: StreamOrder = { port, path, headers, body, marks, streams, opensPerSecond };
  writeFileSync(file, JSON.stringify(order));
  const child = fork(PROGRAM, [file]);
  try {
    const openMaxMs = (streams / opensPerSecond) * MS_PER_SECOND + OPEN_GRACE_MS;
    await waitUntilOpen(child, order, openMaxMs);
    meter.begin();
    child.send('begin');
    await sleep(seconds * MS_PER_SECOND);
    meter.end();
    child.send('report');
    const report = await receive(child, REPORT_MAX_MS);
    const { events, failures, openStreams, longestGapMs, latencyMs } = report;
    const details = { openStreams, longestGapMs };
    return { generator: 'own streams', units: events, seconds, failures, latencyMs, details };
  } finally {
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

async function waitUntilOpen(
  child: ChildProcess,
  { streams }: StreamOrder,
  timeMaxMs: number,
): Promise<void> {
  try {
    await receive(child, timeMaxMs);
  } catch {
    child.send('report');
    const { openStreams, failures } = await receive(child, REPORT_MAX_MS);
    if (openStreams >= streams * OPEN_SHARE_MIN) return;
    throw new Error(`only ${openStreams} of ${streams} streams were open, ${failures} had failed`);
  }
}

async function receive(child: ChildProcess, timeMaxMs: number): Promise<StreamReport> {
  const signal = AbortSignal.timeout(timeMaxMs);
  const [message] = (await once(child, 'message', { signal })) as [StreamReport];
  return message;
}
