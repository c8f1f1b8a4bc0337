import { createCatalogue } from '../catalogue/resolve-model.ts';
import type { Config } from '../config/config.ts';
import { packageVersion } from '../config/package-version.ts';
import type { Steps } from '../gateway/steps.ts';
import { createHealthRoutes } from '../http/health-routes.ts';
import { DEFAULT_HTTP_LIMITS, type HttpLimits } from '../http/http-limits.ts';
import { createInferenceRoutes } from '../http/inference-routes.ts';
import { createKeyRoute } from '../http/key-route.ts';
import { loadUws } from '../http/load-uws.ts';
import { createModelsRoutes } from '../http/models-routes.ts';
import { createOpenApiRoute } from '../http/openapi-route.ts';
import type { Route } from '../http/routes.ts';
import { startServer } from '../http/start-server.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RedisTarget } from '../lib/redis-target.ts';
import type { Settlement } from '../quota/settlement.ts';
import { createBreaker } from '../redis/breaker.ts';
import { connectRedis } from '../redis/connect-redis.ts';
import { watchRedis } from '../redis/watch-redis.ts';
import { createBilling } from './create-billing.ts';
import { createInfer } from './create-infer.ts';
import { drainServer } from './drain-server.ts';
import type { DrainOrder } from './messages.ts';

export interface WorkerOptions {
  /** The slot, from 1. */
  readonly worker: number;
  readonly config: Config;
  readonly redis: RedisTarget;
  /** Resolves when the primary has these settlements on its disk. */
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  /** For tests of the process itself; the product has none. */
  readonly extraRoutes: readonly Route[];
}

export interface Worker {
  /** Resolves when every exchange has ended or was cut. */
  drain(order: DrainOrder): Promise<void>;
}

const COMMAND_TIMEOUT_MS = 1_000;
/** A worker that replaces another must not refuse what the other would have served. */
const STORE_WAIT_MAX_MS = 2_000;

/** THE COMPOSITION ROOT: builds each part once, in order, and hands it to those that need it. */
export async function startWorker(options: WorkerOptions): Promise<Worker> {
  const { config, clock, log } = options;
  const startedMs = clock.nowMs();
  const { uws, label } = loadUws(config.uwsSha256);

  const name = `worker-${options.worker}`;
  const target = options.redis;
  const redis = connectRedis({ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
  const breaker = createBreaker({ clock, random: Math.random });
  const redisWatch = watchRedis({ connection: redis, breaker, clock, log });
  await redisWatch.waitUntilSeen(STORE_WAIT_MAX_MS);

  const { handOver } = options;
  const billing = createBilling({ config, target, name, redis, breaker, handOver, clock, log });
  const steps: Steps = {
    ...billing.steps,
    catalogue: createCatalogue(config.models),
    bytesPerToken: config.estimate.bytesPerToken,
    overCeiling: config.limits.overCeiling,
    infer: createInfer(config, `worker ${options.worker} ${startedMs}`, clock),
    observe: () => {},
    nowMs: () => clock.nowMs(),
  };

  let isDraining = false;
  const server = await startServer({
    uws,
    endpoint: config.listen,
    routes: [
      ...createHealthRoutes({
        version: packageVersion(),
        worker: options.worker,
        uptimeMs: () => clock.nowMs() - startedMs,
        isDraining: () => isDraining,
        storeOutForMs: () => redisWatch.outForMs(),
      }),
      ...createInferenceRoutes(steps),
      ...createModelsRoutes(steps),
      createKeyRoute(steps),
      createOpenApiRoute(packageVersion()),
      ...options.extraRoutes,
    ],
    limits: limitsOf(config),
    clock,
    log,
  });
  log.debug({ uws: label }, 'native HTTP server loaded');

  return {
    async drain(order) {
      isDraining = true;
      const cut = await drainServer(server, order, clock);
      if (cut > 0) log.warn({ cut }, 'drain took too long: open exchanges were cut');
      redisWatch.stop();
      await billing.close();
      await redis.close();
    },
  };
}

function limitsOf({ limits }: Config): HttpLimits {
  const { bodyBytesMax, bodyTimeMaxMs } = limits;
  return { ...DEFAULT_HTTP_LIMITS, bodyBytesMax, bodyTimeMaxMs };
}
