import cluster from 'node:cluster';
import { decodeSettlement, type Settlement } from '../quota/settlement.ts';
import type {
  DrainOrder,
  MessageToPrimary,
  MessageToWorker,
  StartOrder,
  WorkerReport,
} from './messages.ts';

/** From the fork to the open port; beyond it the worker counts as stuck. */
const START_TIME_MAX_MS = 60_000;

/** Read by uWS itself: without it newer builds take no more than 4 KiB of headers. */
const WORKER_ENVIRONMENT = { UWS_HTTP_MAX_HEADERS_SIZE: '16384' };

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export type WorkerState = 'starting' | 'listening' | 'draining';

interface WorkerLinks {
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** Those that a worker has to know of before it listens. */
  readonly downUpstreams: () => readonly string[];
}

/** One worker process as its primary sees it. */
export interface WorkerProcess {
  /** From 1. */
  readonly slot: number;
  readonly pid: number;
  readonly startedMs: number;
  /** Rejects with the worker's own reason when it cannot start. */
  readonly listening: Promise<void>;
  readonly exited: Promise<WorkerExit>;
  state(): WorkerState;
  /** The last one; undefined until it listens. */
  report(): WorkerReport | undefined;
  tellDownUpstreams(names: readonly string[]): void;
  drain(order: DrainOrder): void;
  kill(): void;
}

export function forkWorker(order: StartOrder, links: WorkerLinks): WorkerProcess {
  // Buffers pass as they are, not as lists of numbers.
  cluster.setupPrimary({ serialization: 'advanced' });
  const worker = cluster.fork(WORKER_ENVIRONMENT);
  const send = (message: MessageToWorker) => {
    // A worker that is just dying takes no message; its exit is seen elsewhere.
    worker.send(message, () => {});
  };
  let state: WorkerState = 'starting';
  let report: WorkerReport | undefined;
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
          send({ type: 'upstreams-down', names: links.downUpstreams() });
          break;
        case 'report':
          report = message.report;
          break;
        case 'journal':
          // A worker that gets no answer keeps what it has and tries again.
          links.journal(message.settlements.map(decodeSettlement)).then(
            () => send({ type: 'journalled', id: message.id }),
            () => {},
          );
          break;
        case 'listening':
          clearTimeout(timer);
          if (state === 'starting') state = 'listening';
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
    slot: order.worker,
    pid: worker.process.pid ?? 0,
    startedMs: Date.now(),
    listening,
    exited,
    state: () => state,
    report: () => report,
    tellDownUpstreams: (names) => send({ type: 'upstreams-down', names }),
    drain(drainOrder) {
      state = 'draining';
      send({ type: 'drain', order: drainOrder });
    },
    kill: () => {
      worker.process.kill('SIGKILL');
    },
  };
}
