import { fileURLToPath } from 'node:url';
import type { Config, CurrentCatalogue } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Steps } from '../gateway/steps.ts';
import { createTokenRatios } from '../gateway/token-ratios.ts';
import { createUnreadList } from '../gateway/unread-list.ts';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../http/http-limits.ts';
import { loadUws } from '../http/load-uws.ts';
import { addKeyPage } from '../http/routes/add-key-page.ts';
import { createCors, type OpenRoute } from '../http/routes/create-cors.ts';
import { createHealthRoutes, type HealthSource } from '../http/routes/health-routes.ts';
import { createInferenceRoutes } from '../http/routes/inference-routes.ts';
import { createModelListRoutes } from '../http/routes/model-list-routes.ts';
import { createOpenApiRoute } from '../http/routes/openapi-route.ts';
import { createOwnKeyRoute } from '../http/routes/own-key-route.ts';
import { createResponsesRoutes } from '../http/routes/responses-routes.ts';
import type { HttpRoute } from '../http/routes/route-table.ts';
import { type Server, startServer } from '../http/start-server.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import { judgeReadiness } from '../lib/readiness.ts';
import type { RefusalBatch } from '../lib/refusal-batch.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { Activity } from '../messages/activity.ts';
import type { DrainOrder, MastersNews, WorkerReport } from '../messages/worker-messages.ts';
import type { MetricSnapshot } from '../metrics/metric-snapshot.ts';
import { createObserveCommand } from '../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { loadPageFiles } from '../page-files/load-page-files.ts';
import type { Settlement } from '../quota/settlement/settlement.ts';
import { createBreaker } from '../redis/breaker.ts';
import { connectRedis } from '../redis/connect-redis.ts';
import { watchRedis } from '../redis/watch-redis.ts';
import { type ActivityCount, createActivityCount, createActivitySender } from './activity-count.ts';
import { createBilling } from './billing.ts';
import { callEachSecond } from './call-each-second.ts';
import { createObserveTries, createWorkerMetrics, watchWorker } from './create-worker-metrics.ts';
import { drainServer, type ServerDrain } from './drain-server.ts';
import { createObservers } from './observers.ts';
import { openReasoningVault } from './open-reasoning-vault.ts';
import { createRefusalSender, createRefusalTally, type RefusalTally } from './refusal-tally.ts';
import { startReports } from './start-reports.ts';
import { createUpstreams } from './upstreams.ts';
import { createWorkerCatalogue } from './worker-catalogue.ts';

export interface WorkerOptions {
  /** From 1. */
  readonly slot: number;
  readonly config: Config;
  readonly configVersion: string;
  readonly catalogue: CurrentCatalogue;
  readonly redis: RedisTarget;
  /** While the books are full, no request is admitted. This may change at any time. */
  readonly books: { readonly isFull: boolean };
  /** Resolves when the primary has these settlements on its disk. */
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  /** Calls `onSent` when the report has left this process. */
  readonly report: (report: WorkerReport, onSent: () => void) => void;
  readonly sendActivity: (activity: Activity) => void;
  /** Calls `onSent` when the batch has left this process. */
  readonly sendRefusals: (batch: RefusalBatch, onSent: () => void) => void;
  readonly clock: Clock;
  readonly log: Log;
  /** Routes for tests of the process itself. The product has none. */
  readonly extraRoutes: readonly HttpRoute[];
}

export interface Worker {
  changeCatalogue(next: CurrentCatalogue): void;
  /** Takes the names of all upstreams that do not answer the primary. */
  setDownUpstreams(names: readonly string[]): void;
  noteMasters(news: MastersNews): void;
  readMetrics(): MetricSnapshot[];
  /** Resolves when every exchange has ended or was cut. */
  drain(order: DrainOrder): Promise<void>;
  /** Ends a drain earlier, if this order does. */
  shortenDrain(order: DrainOrder): void;
}

/** The folder into which the build puts the page for key owners. */
const KEY_PAGE_DIR = fileURLToPath(new URL('../key-page', import.meta.url));
const COMMAND_TIMEOUT_MS = 1_000;
/**
 * How long a worker waits for the store before it listens. A worker that replaces another must not
 * refuse requests that the other would have served.
 */
const STORE_WAIT_MAX_MS = 2_000;

/**
 * THE COMPOSITION ROOT: builds each part once, in order, and hands it to the parts that need it.
 */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, slot, books, clock, log } = options;
  const startedMs = clock.nowMs();
  const { uws, label } = loadUws(config.uwsSha256);

  const name = `worker-${slot}`;
  const sold = createWorkerCatalogue(options.catalogue);
  const metrics = createWorkerMetrics(options);
  const { redis, breaker, redisWatch } = openStore(options, name, metrics);
  await redisWatch.waitUntilSeen(STORE_WAIT_MAX_MS);

  const reasoning = await openReasoningVault({ config, redis, log });
  const billing = createBilling({
    ...{ config, target: options.redis, name, redis, breaker, books, metrics, clock, log },
    ...{ clockSkewMs: redisWatch.clockSkewMs, handOver: options.handOver },
    plans: () => sold.current().plans,
  });
  const upstreams = createUpstreams({
    ...{ config, slot, clock, onTries: createObserveTries(metrics) },
    ...{ instance: `worker ${slot} ${startedMs}`, models: options.catalogue.models },
  });
  const unread = createUnreadList(unreadTimeoutOf(config));
  const requestCounts = { activity: createActivityCount(), refusals: createRefusalTally(clock) };
  const observers = createObservers({ config, slot, metrics, ...requestCounts, clock, log });
  const steps: Steps = {
    ...billing.steps,
    ...{ offer: sold.current, configVersion: options.configVersion },
    ...{ estimate: config.estimate, ...stepLimitsOf(config) },
    ...{ reasoning: reasoning.vault, ratioOf: createTokenRatios(config.estimate.bytesPerToken) },
    ...{ infer: upstreams.infer, upstreamFormats: upstreams.formats, unread },
    ...{ startTrace: observers.startTrace, observe: observers.observe, nowMs: clock.nowMs },
  };

  const readiness = () => judgeReadiness(redisWatch, billing.canInsure());
  let drain: ServerDrain | undefined;
  const isDraining = () => drain !== undefined;
  const openRoute = createCors(config.cors.origins);
  const health = { uptimeMs: () => clock.nowMs() - startedMs, isDraining, readiness };
  const server = await startServer({
    ...{ uws, endpoint: config.listen },
    ...{ routes: createRoutes(options, steps, health, openRoute), openRefusal: openRoute },
    ...{ limits: limitsOf(config), clock, log },
  });
  const catalogueVersion = () => sold.current().version;
  watchWorker(metrics, { server, unread, redisWatch, catalogueVersion, upstreams, isDraining });
  log.debug({ uws: label }, 'native HTTP server loaded');
  const stopSending = startSending(options, server, requestCounts);
  const readReport = () => ({
    ...{ upstreams: upstreams.readReports(), readiness: readiness() },
    storeOutForMs: redisWatch.outForMs(),
  });
  const stopReports = startReports(readReport, options.report);

  return {
    changeCatalogue: (next) => sold.change(next, { metrics, upstreams }),
    setDownUpstreams: (names) => upstreams.setDown(new Set(names)),
    ...{ noteMasters: billing.noteMasters, readMetrics: metrics.read },
    shortenDrain: (order) => drain?.shorten(order),
    async drain(order) {
      drain = drainServer({ server, unread }, order);
      const cut = await drain.over;
      stopSending();
      if (cut > 0) log.warn({ cut }, 'drain took too long: open exchanges were cut');
      for (const stop of [stopReports, reasoning.stop, redisWatch.stop]) stop();
      await Promise.all([billing.close(), observers.close()]);
      await redis.close();
    },
  };
}

/** Undefined if no answer is read after its client has left. */
function unreadTimeoutOf({ onLeave }: Config): number | undefined {
  return onLeave.action === 'drain' ? onLeave.timeoutMs : undefined;
}

function stepLimitsOf({ limits }: Config) {
  const { overCeiling, outputHeldMax, endUsers } = limits;
  return { overCeiling, outputHeldMax, endUserSources: endUsers.sources };
}

interface RequestCounts {
  readonly activity: ActivityCount;
  readonly refusals: RefusalTally;
}

function startSending(
  options: Pick<WorkerOptions, 'sendActivity' | 'sendRefusals'>,
  server: Pick<Server, 'activeExchanges'>,
  { activity, refusals }: RequestCounts,
): () => void {
  const openRequests = () => server.activeExchanges;
  const sendActivity = createActivitySender(activity, openRequests, options.sendActivity);
  const sendRefusals = createRefusalSender(refusals, options.sendRefusals);
  return callEachSecond((isLast) => {
    sendActivity();
    sendRefusals(isLast);
  });
}

/** The connection for commands that no client waits for. */
function openStore(
  { redis: target, clock, log }: WorkerOptions,
  name: string,
  metrics: ProcessMetrics,
) {
  const redis = connectRedis({
    ...{ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log },
    onCommand: createObserveCommand(metrics, 'worker'),
  });
  const breaker = createBreaker({ clock, random: Math.random });
  return { redis, breaker, redisWatch: watchRedis({ connection: redis, breaker, clock, log }) };
}

type NodeHealth = Pick<HealthSource, 'uptimeMs' | 'isDraining' | 'readiness'>;

function createRoutes(
  options: WorkerOptions,
  steps: Steps,
  health: NodeHealth,
  openRoute: OpenRoute,
): readonly HttpRoute[] {
  const version = packageVersion();
  const apiRoutes = [
    ...createInferenceRoutes(steps),
    ...createModelListRoutes(steps),
    ...createResponsesRoutes(steps),
    createOwnKeyRoute(steps),
  ];
  const routes = [
    ...createHealthRoutes({ ...health, version, slot: options.slot }),
    ...apiRoutes.map(openRoute),
    createOpenApiRoute(version),
    ...options.extraRoutes,
  ];
  return options.config.keyPage ? addKeyPage(routes, loadPageFiles(KEY_PAGE_DIR)) : routes;
}

function limitsOf({ limits }: Config): HttpLimits {
  const { bodyBytesMax, bodyTimeMaxMs } = limits;
  // The first body of a new customer may be as large as any other.
  const strangersHeldBytesMax = Math.max(
    DEFAULT_HTTP_LIMITS.strangersHeldBytesMax,
    2 * bodyBytesMax,
  );
  return { ...DEFAULT_HTTP_LIMITS, bodyBytesMax, bodyTimeMaxMs, strangersHeldBytesMax };
}
