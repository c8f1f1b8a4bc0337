import cluster, { type Worker } from 'node:cluster';
import type { RefusalBatch } from '../lib/refusal-batch.ts';
import { createDeferred } from '../lib/time/deferred.ts';
import type { Activity } from '../messages/activity.ts';
import type {
  DrainOrder,
  MastersNews,
  MessageToPrimary,
  MessageToWorker,
  StartOrder,
  WorkerReport,
} from '../messages/worker-messages.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';
import type { MetricsSource } from '../metrics/metrics-collector.ts';
import { decodeSettlement, type Settlement } from '../quota/settlement/settlement.ts';
import { createMetricsQuestions } from './create-metrics-questions.ts';
import { chooseWorkerFlags } from './worker-flags.ts';

/** From the fork to the open port. A worker that takes longer counts as stuck. */
const START_TIME_MAX_MS = 60_000;

const WORKER_ENVIRONMENT = {
  /** Read by uWS itself. Without it, newer builds take no more than 4 KiB of headers. */
  UWS_HTTP_MAX_HEADERS_SIZE: '16384',
  /**
   * Read by glibc: one pool of free memory instead of one for each thread. The pools of the
   * engine's helper threads stay as large as the compiler's peak in them (3 to 20 MB a worker).
   */
  MALLOC_ARENA_MAX: '1',
};

export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export type WorkerState = 'starting' | 'listening' | 'draining';

interface WorkerLinks {
  /** What the worker sells, under its settings. */
  readonly catalogue: () => StartOrder['catalogue'];
  /** What it sells from now on. Undefined if that cannot be sold under its settings. */
  readonly nextCatalogue: () => StartOrder['catalogue'] | undefined;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** The upstreams that a worker must know to be down before it listens. */
  readonly downUpstreams: () => readonly string[];
  /** Whether a worker must refuse requests from the start, since the books are full. */
  readonly areBooksFull: () => boolean;
  readonly onActivity: (activity: Activity) => void;
  readonly noteRefusals: (batch: RefusalBatch) => void;
  /** Called when `report` returns a new report. */
  readonly onReport: () => void;
}

/** One worker process as its primary sees it. */
export interface WorkerProcess extends MetricsSource {
  /** The slot, from 1. */
  readonly slot: number;
  readonly pid: number;
  readonly startedMs: number;
  /** Rejects with the worker's own reason when it cannot start. */
  readonly listening: Promise<void>;
  readonly exited: Promise<WorkerExit>;
  state(): WorkerState;
  /** The last report. Undefined until the worker listens. */
  report(): WorkerReport | undefined;
  /** How long it has sent nothing. A worker that listens reports every second. */
  silentForMs(): number;
  announceDownUpstreams(names: readonly string[]): void;
  announceBooksFull(isFull: boolean): void;
  announceMasters(news: MastersNews): void;
  /** Announces what is sold now. */
  announceCatalogue(): void;
  drain(order: DrainOrder): void;
  kill(): void;
}

/** The catalogue is that of the moment when the worker is ready. */
type ForkOrder = Omit<StartOrder, 'catalogue'>;

/** If the system has no room for another process, the worker is one that ended at once. */
export function forkWorker(order: ForkOrder, links: WorkerLinks): WorkerProcess {
  try {
    return followWorker(fork(), order, links);
  } catch (error) {
    return createStillborn(order.worker, error as Error);
  }
}

function followWorker(worker: Worker, order: ForkOrder, links: WorkerLinks): WorkerProcess {
  const send = createSend(worker);
  let state: WorkerState = 'starting';
  let drainOrder: DrainOrder | undefined;
  let report: WorkerReport | undefined;
  const { exited, hungUp, failed } = watchEnd(worker);
  const questions = createMetricsQuestions(send);
  let lastMetrics: readonly MetricSnapshot[] | undefined;
  const opening = createOpening(worker, exited);
  const silentForMs = measureSilence(worker);
  void failed.then(opening.fail);
  worker.on('message', (message: MessageToPrimary) => {
    switch (message.type) {
      case 'ready':
        for (const first of firstOrders(order, drainOrder, links)) send(first);
        break;
      case 'report':
        report = message.report;
        links.onReport();
        break;
      case 'activity':
        links.onActivity(message.activity);
        break;
      case 'refusals':
        links.noteRefusals(message.batch);
        break;
      case 'journal':
        takeSettlements(message, links, send);
        break;
      case 'listening':
        if (state === 'starting') state = 'listening';
        opening.succeed();
        break;
      case 'metrics':
        questions.noteAnswer(message.id, message.metrics);
        break;
      case 'last_metrics':
        lastMetrics = message.metrics;
        break;
      case 'failed':
        opening.fail(new Error(message.reason));
    }
  });
  return {
    slot: order.worker,
    pid: worker.process.pid ?? 0,
    startedMs: Date.now(),
    listening: opening.listening,
    exited,
    state: () => state,
    report: () => report,
    silentForMs,
    readMetrics: questions.ask,
    lastMetrics: Promise.all([exited, hungUp]).then(() => {
      questions.end();
      return lastMetrics;
    }),
    ...createNews(send, links),
    drain(given) {
      state = 'draining';
      drainOrder = given;
      send({ type: 'drain', order: given });
    },
    kill: () => void worker.process.kill('SIGKILL'),
  };
}

/** A dying worker takes no message. Its exit is handled elsewhere. */
function createSend(worker: Worker): (message: MessageToWorker) => void {
  return (message) => {
    if (worker.isConnected()) worker.send(message, () => {});
  };
}

function measureSilence(worker: Worker): () => number {
  let heardMs = performance.now();
  worker.on('message', () => {
    heardMs = performance.now();
  });
  return () => performance.now() - heardMs;
}

function createStillborn(slot: number, reason: Error): WorkerProcess {
  const listening = Promise.reject(reason);
  listening.catch(() => {});
  const nothing = () => undefined;
  return {
    ...{ slot, pid: 0, startedMs: Date.now(), listening, state: () => 'starting' },
    exited: Promise.resolve({ code: null, signal: null }),
    report: () => undefined,
    silentForMs: () => 0,
    readMetrics: () => Promise.resolve([]),
    lastMetrics: Promise.resolve(undefined),
    ...createNews(nothing, { nextCatalogue: nothing }),
    ...{ drain: nothing, kill: nothing },
  };
}

/** What the primary announces to a worker about the world outside. */
function createNews(
  send: (message: MessageToWorker) => void,
  { nextCatalogue }: Pick<WorkerLinks, 'nextCatalogue'>,
): Pick<
  WorkerProcess,
  'announceDownUpstreams' | 'announceBooksFull' | 'announceMasters' | 'announceCatalogue'
> {
  return {
    announceDownUpstreams: (names) => send({ type: 'upstreams_down', names }),
    announceBooksFull: (isFull) => send({ type: 'books_full', isFull }),
    announceMasters: (news) => send({ type: 'masters', news }),
    announceCatalogue() {
      const catalogue = nextCatalogue();
      if (catalogue !== undefined) send({ type: 'catalogue', catalogue });
    },
  };
}

/** A worker that gets no answer keeps its settlements and tries again. */
function takeSettlements(
  { id, settlements }: Extract<MessageToPrimary, { type: 'journal' }>,
  { journal }: WorkerLinks,
  send: (message: MessageToWorker) => void,
): void {
  journal(settlements.map(decodeSettlement)).then(
    () => send({ type: 'journalled', id }),
    () => {},
  );
}

/**
 * The first messages to a worker. Messages sent before it was ready are lost, so a worker that must
 * drain already gets that order instead of the start.
 */
function firstOrders(
  order: ForkOrder,
  drainOrder: DrainOrder | undefined,
  { catalogue, downUpstreams, areBooksFull }: WorkerLinks,
): MessageToWorker[] {
  if (drainOrder !== undefined) return [{ type: 'drain', order: drainOrder }];
  return [
    { type: 'books_full', isFull: areBooksFull() },
    { type: 'start', order: { ...order, catalogue: catalogue() } },
    { type: 'upstreams_down', names: downUpstreams() },
  ];
}

function fork(): Worker {
  // With this serialization, buffers are sent as they are, not as lists of numbers.
  cluster.setupPrimary({
    serialization: 'advanced',
    execArgv: [...process.execArgv, ...chooseWorkerFlags()],
  });
  return cluster.fork(WORKER_ENVIRONMENT);
}

/**
 * Messages that a process sent before its end can arrive after `exited`, but not after `hungUp`.
 * A process that the system could not start emits neither, but an error.
 */
function watchEnd(worker: Worker) {
  const { process: child } = worker;
  const failed = createDeferred<Error>();
  worker.on('error', (error: Error) => {
    if (child.pid === undefined) failed.resolve(error);
  });
  const exited = new Promise<WorkerExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    void failed.promise.then(() => resolve({ code: null, signal: null }));
  });
  const hungUp = new Promise<void>((resolve) => {
    child.once('disconnect', resolve);
    void failed.promise.then(() => resolve());
  });
  return { exited, hungUp, failed: failed.promise };
}

/** The time in which a worker must open its port. */
function createOpening({ process: child }: Worker, exited: Promise<WorkerExit>) {
  let succeed: () => void = () => {};
  let fail: (reason: Error) => void = () => {};
  const listening = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      fail(new Error(`did not listen within ${START_TIME_MAX_MS / 1_000} s`));
      child.kill('SIGKILL');
    }, START_TIME_MAX_MS);
    succeed = () => {
      clearTimeout(timer);
      resolve();
    };
    fail = (reason) => {
      clearTimeout(timer);
      reject(reason);
    };
  });
  // `exited` reports the failure as well, and not every caller waits for both.
  listening.catch(() => {});
  void exited.then(({ code, signal }) =>
    fail(new Error(`ended before it listened (${signal ?? `exit code ${code}`})`)),
  );
  return { listening, succeed, fail };
}
