import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Log } from '../lib/log.ts';
import { pause } from '../timers/pause.ts';

const RESTART_DELAY_MS = 1_000;
/** How long a thread may take to end by itself. */
const STOP_MAX_MS = 10_000;
/** New objects are collected more often than by default, and take a third of the memory. */
const YOUNG_HEAP_MB_MAX = 12;

interface KeepThreadOptions<FromThread> {
  readonly file: URL;
  /** Called at each start, for what the thread starts with. */
  readonly order: () => unknown;
  /** What the thread may keep in memory; one that needs more is replaced. */
  readonly heapMbMax: number;
  /** Set if it runs only while it is needed, since a thread takes some 40 MB. */
  readonly rest?: ThreadRest;
  readonly onMessage: (message: FromThread) => void;
  /** The thread has ended by itself. It starts again, at its next message if it may rest. */
  readonly onBreak: () => void;
  readonly log: Log;
}

/** A thread that rests has ended, and is started by the next message. */
interface ThreadRest {
  /** How long after the last message it ends. */
  readonly afterMs: number;
  /** Whether it is done with every message. Until then it keeps running. */
  isDone(): boolean;
}

export interface ThreadHandle<ToThread> {
  /** Messages sent while no thread runs are lost, unless the thread may rest. */
  tell(message: ToThread): void;
  stop(): Promise<void>;
}

/** Runs a thread, and starts it again when it ends. Sends it `{type: 'stop'}` in the end. */
export function keepThread<ToThread, FromThread>(
  options: KeepThreadOptions<FromThread>,
): ThreadHandle<ToThread | { readonly type: 'stop' }> {
  const { file, order, heapMbMax, rest, onMessage, onBreak, log } = options;
  const stopping = new AbortController();
  /** Includes threads that are stopping. */
  const running = new Map<Worker, Promise<unknown>>();
  let thread: Worker | undefined;
  let restTimer: NodeJS.Timeout | undefined;

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
    const ended = new Promise((resolve) => {
      worker.once('exit', () => {
        running.delete(worker);
        resolve(undefined);
        // A thread that was put to rest has a successor by now, or needs none.
        if (thread !== worker) return;
        thread = undefined;
        if (stopping.signal.aborted) return;
        onBreak();
        if (rest === undefined) void startLater();
      });
    });
    running.set(worker, ended);
    return worker;
  };
  const startLater = async () => {
    await pause(RESTART_DELAY_MS, stopping.signal);
    if (!stopping.signal.aborted) start();
  };
  const end = async (worker: Worker) => {
    worker.postMessage({ type: 'stop' });
    const isLate = sleep(STOP_MAX_MS, true, { ref: false });
    if ((await Promise.race([running.get(worker), isLate])) === true) await worker.terminate();
  };
  const restLater = ({ afterMs, isDone }: ThreadRest) => {
    clearTimeout(restTimer);
    restTimer = setTimeout(() => {
      if (thread === undefined || stopping.signal.aborted) return;
      if (!isDone()) return restLater({ afterMs, isDone });
      const resting = thread;
      // From here on, any message starts another thread.
      thread = undefined;
      void end(resting);
    }, afterMs).unref();
  };
  if (rest === undefined) start();

  return {
    tell(message) {
      const isWanted = rest !== undefined && thread === undefined && !stopping.signal.aborted;
      const target = isWanted ? start() : thread;
      target?.postMessage(message);
      if (rest !== undefined) restLater(rest);
    },
    async stop() {
      stopping.abort();
      clearTimeout(restTimer);
      await Promise.all([...running.keys()].map(end));
    },
  };
}
