import cluster from 'node:cluster';
import type { Activity } from '../ops/activity.ts';
import { decodeSettlement, type Settlement } from '../quota/settlement.ts';
import type { DrainOrder, MessageToPrimary, MessageToWorker, StartOrder } from './messages.ts';

/** From the fork to the open port; beyond it the worker counts as stuck. */
const START_TIME_MAX_MS = 60_000;

/** Read by uWS itself: without it newer builds take no more than 4 KiB of headers. */
const WORKER_ENVIRONMENT = { UWS_HTTP_MAX_HEADERS_SIZE: '16384' };

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One worker process as its primary sees it. */
export interface WorkerProcess {
  readonly pid: number;
  readonly startedMs: number;
  /** Rejects with the worker's own reason when it cannot start. */
  readonly listening: Promise<void>;
  readonly exited: Promise<WorkerExit>;
  drain(order: DrainOrder): void;
  kill(): void;
}

/** `journal` resolves when the settlements are on the disk. */
export function forkWorker(
  order: StartOrder,
  journal: (settlements: readonly Settlement[]) => Promise<void>,
  onActivity: (activity: Activity) => void,
): WorkerProcess {
  // Buffers pass as they are, not as lists of numbers.
  cluster.setupPrimary({ serialization: 'advanced' });
  const worker = cluster.fork(WORKER_ENVIRONMENT);
  const send = (message: MessageToWorker) => {
    // A worker that is just dying takes no message; its exit is seen elsewhere.
    worker.send(message, () => {});
  };
  const exited = new Promise<WorkerExit>((resolve) => {
    worker.process.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const listening = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error(`did not listen within ${START_TIME_MAX_MS / 1_000} s`));
      worker.process.kill('SIGKILL');
    }, START_TIME_MAX_MS);
    worker.on('message', (message: MessageToPrimary) => {
      switch (message.type) {
        case 'ready':
          send({ type: 'start', order });
          break;
        case 'journal':
          // A worker that gets no answer keeps what it has and tries again.
          journal(message.settlements.map(decodeSettlement)).then(
            () => send({ type: 'journalled', id: message.id }),
            () => {},
          );
          break;
        case 'activity':
          onActivity(message.activity);
          break;
        case 'listening':
          clearTimeout(timer);
          resolve();
          break;
        case 'failed':
          clearTimeout(timer);
          reject(new Error(message.reason));
      }
    });
    void exited.then(({ code, signal }) => {
      clearTimeout(timer);
      reject(new Error(`ended before it listened (${signal ?? `exit code ${code}`})`));
    });
  });
  // Its failure is told by `exited` as well; not everyone waits for both.
  listening.catch(() => {});
  return {
    pid: worker.process.pid ?? 0,
    startedMs: Date.now(),
    listening,
    exited,
    drain: (drainOrder) => send({ type: 'drain', order: drainOrder }),
    kill: () => {
      worker.process.kill('SIGKILL');
    },
  };
}
