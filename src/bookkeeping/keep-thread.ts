import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Log } from '../lib/log.ts';

const RESTART_DELAY_MS = 1_000;
/** How long a thread may take to end by itself. */
const STOP_MAX_MS = 10_000;
/** What is new is collected more often, and takes a third of the memory. */
const YOUNG_HEAP_MB_MAX = 12;

interface KeepThreadOptions<FromThread> {
  readonly file: URL;
  /** What the thread starts with, each time anew. */
  readonly order: () => unknown;
  /** What the thread may keep in memory; one that needs more is replaced. */
  readonly heapMbMax: number;
  /** It starts with the first message: a thread takes some 40 MB. */
  readonly isLazy: boolean;
  readonly onMessage: (message: FromThread) => void;
  /** The thread has ended by itself, and is started anew; a lazy one at its next message. */
  readonly onBreak: () => void;
  readonly log: Log;
}

export interface ThreadHandle<ToThread> {
  /** What is told while there is no thread is lost, unless the thread is lazy. */
  tell(message: ToThread): void;
  stop(): Promise<void>;
}

/** Runs a thread, and starts it again when it ends. It is told `{type: 'stop'}` in the end. */
export function keepThread<ToThread, FromThread>(
  options: KeepThreadOptions<FromThread>,
): ThreadHandle<ToThread | { readonly type: 'stop' }> {
  const { file, order, heapMbMax, isLazy, onMessage, onBreak, log } = options;
  const stopping = new AbortController();
  let thread: Worker | undefined;
  let ended: Promise<unknown> = Promise.resolve();

  const start = () => {
    const worker = new Worker(file, {
      workerData: order(),
      resourceLimits: {
        maxOldGenerationSizeMb: heapMbMax,
        maxYoungGenerationSizeMb: YOUNG_HEAP_MB_MAX,
      },
    });
    thread = worker;
    worker.on('message', onMessage);
    worker.on('error', (error) => log.error({ err: error }, 'a thread of the books has failed'));
    ended = new Promise((resolve) => {
      worker.once('exit', () => {
        thread = undefined;
        resolve(undefined);
        if (stopping.signal.aborted) return;
        onBreak();
        if (!isLazy) void startLater();
      });
    });
    return worker;
  };
  const startLater = async () => {
    await sleep(RESTART_DELAY_MS, undefined, { signal: stopping.signal }).catch(() => {});
    if (!stopping.signal.aborted) start();
  };
  if (!isLazy) start();

  return {
    tell(message) {
      const isWanted = isLazy && thread === undefined && !stopping.signal.aborted;
      const told = isWanted ? start() : thread;
      told?.postMessage(message);
    },
    async stop() {
      stopping.abort();
      thread?.postMessage({ type: 'stop' });
      const isLate = sleep(STOP_MAX_MS, true, { ref: false });
      if ((await Promise.race([ended, isLate])) === true) await thread?.terminate();
    },
  };
}
