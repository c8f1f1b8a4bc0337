import cluster from 'node:cluster';
import type { CurrentCatalogue } from '../config/config.ts';
import { unpackConfig } from '../config/pack-config.ts';
import type { HttpRoute } from '../http/routes/route-table.ts';
import { type RedisTarget, unixRedisTarget } from '../lib/address/redis-target.ts';
import { quickenGlobals } from '../lib/bytes/quicken-globals.ts';
import type { Log } from '../lib/log.ts';
import { createLog } from '../log/create-log.ts';
import type {
  DrainOrder,
  MessageToPrimary,
  MessageToWorker,
  StartOrder,
} from '../messages/worker-messages.ts';
import { systemClock } from '../timers/system-clock.ts';
import { createHandOver } from './create-hand-over.ts';
import { startWorker, type Worker, type WorkerOptions } from './start-worker.ts';

/** A worker that has lost its primary finishes open requests and accepts no new connections. */
const ORPHAN_LINGER_MS = 500;

/** What a worker sends its primary by itself. */
const REPORTS: Pick<WorkerOptions, 'report' | 'sendActivity' | 'sendRefusals'> = {
  report: (report, onSent) => sendToPrimary({ type: 'report', report }, onSent),
  sendActivity: (activity) => sendToPrimary({ type: 'activity', activity }),
  sendRefusals: (batch, onSent) => sendToPrimary({ type: 'refusals', batch }, onSent),
};

/** The process around a worker. It takes orders from the primary and exits once it has drained. */
export function runWorkerProcess(extraRoutes: readonly HttpRoute[] = []): void {
  quickenGlobals();
  let worker: Worker | undefined;
  let orphanTimeoutMs = 0;
  const news: WorkerNews = { downUpstreams: [], books: { isFull: false }, catalogue: undefined };
  let log: Log = createLog('info', 'worker');
  let isDraining = false;
  const handOver = createHandOver(sendToPrimary);

  const drain = (order: DrainOrder) => {
    if (isDraining) {
      worker?.shortenDrain(order);
      return;
    }
    isDraining = true;
    Promise.resolve(worker?.drain(order)).then(() => {
      const last = { type: 'last_metrics', metrics: worker?.readMetrics() ?? [] } as const;
      sendToPrimary(last, () => process.exit(0));
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
      const { catalogue, configVersion } = order;
      const { books } = news;
      worker = await open(order, {
        ...{ config, catalogue, configVersion, books, log, extraRoutes },
        handOver: handOver.send,
      });
      if (news.catalogue !== undefined) worker.changeCatalogue(news.catalogue);
      worker.setDownUpstreams(news.downUpstreams);
      sendToPrimary({ type: 'listening' });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      sendToPrimary({ type: 'failed', reason }, () => process.exit(1));
    }
  };

  process.on('message', (message: MessageToWorker) => {
    switch (message.type) {
      case 'start':
        void start(message.order);
        break;
      case 'masters':
        worker?.noteMasters(message.news);
        break;
      case 'journalled':
        handOver.noteJournalled(message.id);
        break;
      case 'read_metrics':
        sendToPrimary({ type: 'metrics', id: message.id, metrics: worker?.readMetrics() ?? [] });
        break;
      case 'drain':
        drain(message.order);
        break;
      default:
        noteNews(message, news, worker);
    }
  });
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', (err) => log.error({ err }, 'a failure that nobody waited for'));
  listenForEnd(() => drain({ timeoutMs: orphanTimeoutMs, lingerMs: ORPHAN_LINGER_MS }));
  // An order that arrives before this process listens for messages would be lost.
  sendToPrimary({ type: 'ready' });
}

type OpenParts = Pick<
  WorkerOptions,
  'config' | 'catalogue' | 'configVersion' | 'books' | 'handOver' | 'log' | 'extraRoutes'
>;

function open(order: StartOrder, parts: OpenParts): Promise<Worker> {
  const { redis } = parts.config;
  return startWorker({
    ...parts,
    ...{ slot: order.worker, clock: systemClock },
    redis: redis === 'embedded' ? embeddedTarget(order) : redis,
    ...REPORTS,
  });
}

/**
 * What the primary has sent this process since it began; a worker that starts later needs it too.
 */
interface WorkerNews {
  downUpstreams: readonly string[];
  readonly books: { isFull: boolean };
  /** Undefined while the catalogue of the start order is still the current one. */
  catalogue: CurrentCatalogue | undefined;
}

function noteNews(
  message: Extract<MessageToWorker, { type: 'upstreams_down' | 'catalogue' | 'books_full' }>,
  news: WorkerNews,
  worker: Worker | undefined,
): void {
  switch (message.type) {
    case 'upstreams_down':
      news.downUpstreams = message.names;
      worker?.setDownUpstreams(message.names);
      break;
    case 'catalogue':
      news.catalogue = message.catalogue;
      worker?.changeCatalogue(message.catalogue);
      break;
    case 'books_full':
      news.books.isFull = message.isFull;
  }
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

function sendToPrimary(message: MessageToPrimary, onSent: () => void = () => {}): void {
  // The primary may be gone by now. The 'disconnect' event handles that.
  if (process.send === undefined || !process.connected) onSent();
  else process.send(message, () => onSent());
}
