import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LinkedList, type ListLinks } from '../../src/lib/collections/linked-list.ts';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import { StopSource } from '../../src/lib/time/stop-signal.ts';
import { encodeBase62, randomBase62 } from '../../src/lib/units/base62.ts';
import { callAtPace } from '../../src/load/call-at-pace.ts';
import { createDeadlineList, type Deadline } from '../../src/timers/deadline-list.ts';
import { mintSpanId } from '../../src/tracing/mint-span-ids.ts';
import { cpuMicros, type Measure, type Twin } from './twin.ts';

const IN_FLIGHT = 64;
const RATE_PER_SECOND = 1_000;
const PACED_CALLS = 300;
const TIMER_MS = 60_000;
const KEPT_NUMBERS = 300;
const MANY = 20_000;
const STRINGS_PROGRAM = join(import.meta.dirname, 'strings-main.js');
const GLOBALS_PROGRAM = join(import.meta.dirname, 'globals-main.js');

const mintRequestId = createRequestIdMint(randomBytes);
const deadlines = createDeadlineList<number>({
  afterMs: TIMER_MS,
  nowMs: () => performance.now(),
  onDue() {},
});

interface Held extends ListLinks<Held> {
  readonly kept: readonly number[];
}

const createHeld = (): Held => ({
  ...{ kept: new Array(KEPT_NUMBERS).fill(0.5), next: undefined, previous: undefined },
  isListed: false,
});

/**
 * Puts each request into a container and takes it out again: when a new request comes, the oldest
 * of 64 leaves. The container has already moved to the old generation, as it does in a worker that
 * rests for a moment.
 */
function turnOver(put: (held: Held) => void, take: (held: Held) => void): Measure {
  const ring: (Held | undefined)[] = new Array(IN_FLIGHT).fill(undefined);
  let at = 0;
  const turn = () => {
    const old = ring[at];
    if (old !== undefined) take(old);
    const held = createHeld();
    ring[at] = held;
    put(held);
    at = (at + 1) % IN_FLIGHT;
  };
  const measure = cpuMicros(turn);
  return () => {
    for (let i = 0; i < IN_FLIGHT; i++) turn();
    collectGarbage();
    collectGarbage();
    return measure();
  };
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Measures how many bytes of the heap one of many objects takes. */
function measureBytes(create: () => unknown, drop: (each: never) => void): Measure {
  return () => {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const all = Array.from({ length: MANY }, create);
    collectGarbage();
    const bytes = (process.memoryUsage().heapUsed - before) / MANY;
    for (const each of all) drop(each as never);
    return bytes;
  };
}

const list = new LinkedList<Held>();
const set = new Set<Held>();

async function measureLateness(
  run: (onDue: (dueMs: number) => void) => Promise<unknown>,
): Promise<number> {
  const lateMs: number[] = [];
  await run((dueMs) => lateMs.push(performance.now() - dueMs));
  return lateMs.toSorted((a, b) => a - b)[Math.floor(lateMs.length / 2)] ?? Number.NaN;
}

/** The usual way to pace calls. */
function paceByTimer(onDue: (dueMs: number) => void): Promise<void> {
  const startMs = performance.now();
  const intervalMs = 1_000 / RATE_PER_SECOND;
  let sent = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      while (sent < PACED_CALLS && startMs + sent * intervalMs <= performance.now()) {
        onDue(startMs + sent * intervalMs);
        sent += 1;
      }
      if (sent < PACED_CALLS) return;
      clearInterval(timer);
      resolve();
    }, intervalMs);
  });
}

/**
 * Runs in its own process, because the preparation that the quick version does cannot be undone.
 */
const runIn =
  (program: string, how: 'plain' | 'quick'): Measure =>
  () =>
    Number(execFileSync(process.execPath, [program, how], { encoding: 'utf8' }));

export const PART_TWINS: readonly Twin[] = [
  {
    file: 'src/lib/request-id.ts',
    what: 'the id of a request',
    unit: 'us',
    plain: cpuMicros(() => `req_${encodeBase62(29_000_000, 6)}${randomBase62(18, randomBytes)}`),
    fast: cpuMicros(() => mintRequestId(Date.now())),
  },
  {
    file: 'src/tracing/mint-span-ids.ts',
    what: 'the id of a span',
    unit: 'us',
    plain: cpuMicros(() => randomBytes(8).toString('hex')),
    fast: cpuMicros(mintSpanId),
  },
  {
    file: 'src/lib/time/stop-signal.ts',
    what: 'the stop signal of a request, with its listener',
    unit: 'us',
    plain: cpuMicros(() => {
      const stop = new AbortController();
      const listener = () => {};
      stop.signal.addEventListener('abort', listener);
      stop.signal.removeEventListener('abort', listener);
    }),
    fast: cpuMicros(() => {
      const stop = new StopSource();
      const listener = () => {};
      stop.addEventListener('abort', listener);
      stop.removeEventListener('abort', listener);
    }),
  },
  {
    file: 'src/timers/deadline-list.ts',
    what: 'the memory of a deadline',
    unit: 'B',
    plain: measureBytes(
      () => setTimeout(() => {}, TIMER_MS),
      (timer: NodeJS.Timeout) => clearTimeout(timer),
    ),
    fast: measureBytes(
      () => deadlines.add(0),
      (deadline: Deadline<number>) => deadlines.delete(deadline),
    ),
  },
  {
    file: 'src/lib/collections/linked-list.ts',
    what: 'a request of 64 at once put in and taken out, with the collection of its garbage',
    unit: 'us',
    plain: turnOver(
      (held) => set.add(held),
      (held) => set.delete(held),
    ),
    fast: turnOver(
      (held) => list.append(held),
      (held) => list.delete(held),
    ),
  },
  {
    file: 'src/lib/bytes/quicken-strings.ts',
    what: 'a settlement packed where the Redis client is loaded',
    unit: 'us',
    plain: runIn(STRINGS_PROGRAM, 'plain'),
    fast: runIn(STRINGS_PROGRAM, 'quick'),
  },
  {
    file: 'src/lib/bytes/quicken-globals.ts',
    what: 'twenty times the clock, the pool and the process',
    unit: 'us',
    plain: runIn(GLOBALS_PROGRAM, 'plain'),
    fast: runIn(GLOBALS_PROGRAM, 'quick'),
  },
  {
    file: 'src/load/start-metronome.ts',
    what: `from due to sent at ${RATE_PER_SECOND}/s, median`,
    unit: 'ms',
    plain: () => measureLateness(paceByTimer),
    fast: () =>
      measureLateness((onDue) =>
        callAtPace({ count: PACED_CALLS, ratePerSecond: RATE_PER_SECOND, onDue }),
      ),
  },
];
