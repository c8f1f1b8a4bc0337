import cluster from 'node:cluster';
import { unpackConfig } from '../config/pack-config.ts';
import type { HttpRoute } from '../http/routes/route-table.ts';
import { type RedisTarget, unixRedisTarget } from '../lib/address/redis-target.ts';
import { quickenGlobals } from '../lib/bytes/quicken-globals.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createLog } from '../log/create-log.ts';
import type {
  DrainOrder,
  MessageToPrimary,
  MessageToWorker,
  StartOrder,
} from '../messages/worker-messages.ts';
import { createHandOver } from './create-hand-over.ts';
import { startWorker, type Worker, type WorkerOptions } from './start-worker.ts';

/** A worker that has lost its primary finishes open requests and accepts no new connections. */
const ORPHAN_LINGER_MS = 500;

const systemClock: Clock = { nowMs: () => Date.now() };

/** What a worker tells its primary by itself. */
const REPORTS: Pick<WorkerOptions, 'report' | 'tellActivity' | 'tellRefusals'> = {
  report: (report, told) => tellPrimary({ type: 'report', report }, told),
  tellActivity: (activity) => tellPrimary({ type: 'activity', activity }),
  tellRefusals: (batch, told) => tellPrimary({ type: 'refusals', batch }, told),
};

/** The process around a worker. It takes orders from the primary and exits once it has drained. */
export function runWorkerProcess(extraRoutes: readonly HttpRoute[] = []): void {
  quickenGlobals();
  let worker: Worker | undefined;
  let orphanTimeoutMs = 0;
  let downUpstreams: readonly string[] = [];
  const books = { isFull: false };
  let log: Log = createLog('info', 'worker');
  let isDraining = false;
  const handOver = createHandOver(tellPrimary);

  const drain = (order: DrainOrder) => {
    if (isDraining) return;
    isDraining = true;
    Promise.resolve(worker?.drain(order)).then(() => {
      const metrics = worker?.readMetrics() ?? [];
      tellPrimary({ type: 'last_metrics', metrics }, () => process.exit(0));
    }, crash);
  };
  const crash = (error: unknown) => {
    log.error({ err: error }, 'worker is broken and ends');
    process.exit(1);
  };

  const start = async (order: StartOrder) => {
    try {
      const config = unpackConfig(order.config);
      log = createLog(config.logLevel, `worker ${order.worker}`);
      orphanTimeoutMs = config.drain.timeoutMs;
      worker = await open(order, { config, books, log, handOver: handOver.send, extraRoutes });
      worker.setDownUpstreams(downUpstreams);
      tellPrimary({ type: 'listening' });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      tellPrimary({ type: 'failed', reason }, () => process.exit(1));
    }
  };

  process.on('message', (message: MessageToWorker) => {
    switch (message.type) {
      case 'start':
        void start(message.order);
        break;
      case 'upstreams_down':
        downUpstreams = message.names;
        worker?.setDownUpstreams(downUpstreams);
        break;
      case 'books_full':
        books.isFull = message.isFull;
        break;
      case 'masters':
        worker?.noteMasters(message.news);
        break;
      case 'journalled':
        handOver.noteJournalled(message.id);
        break;
      case 'read_metrics':
        tellPrimary({ type: 'metrics', id: message.id, metrics: worker?.readMetrics() ?? [] });
        break;
      case 'drain':
        drain(message.order);
    }
  });
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (err) => log.error({ err }, 'a failure that nobody waited for'));
  listenForEnd(() => drain({ timeoutMs: orphanTimeoutMs, lingerMs: ORPHAN_LINGER_MS }));
  // An order that arrives before this process listens for messages would be lost.
  tellPrimary({ type: 'ready' });
}

type OpenParts = Pick<WorkerOptions, 'config' | 'books' | 'handOver' | 'log' | 'extraRoutes'>;

function open(order: StartOrder, parts: OpenParts): Promise<Worker> {
  const { redis } = parts.config;
  return startWorker({
    ...parts,
    ...{ worker: order.worker, configVersion: order.configVersion, clock: systemClock },
    redis: redis === 'embedded' ? embeddedTarget(order) : redis,
    ...REPORTS,
  });
}

function listenForEnd(drain: () => void): void {
  // A terminal sends these signals to the whole process group. The primary decides what they mean.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
  process.on('SIGTERM', drain);
  cluster.worker?.on('disconnect', () => {
    // Without this flag, node:cluster ends the process at once, in the middle of every answer.
    if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true;
    drain();
  });
}

function embeddedTarget(order: StartOrder): RedisTarget {
  if (order.embeddedRedisPath === undefined) throw new Error('the primary named no embedded store');
  return unixRedisTarget(order.embeddedRedisPath);
}

function tellPrimary(message: MessageToPrimary, told: () => void = () => {}): void {
  // The primary may be gone by now. The 'disconnect' event handles that.
  if (process.send === undefined || !process.connected) told();
  else process.send(message, () => told());
}
