import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { packageVersion } from '../config/package-version.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { ConfigSource } from '../config/read-config-source.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { formatEndpoint } from '../lib/parse-endpoint.ts';
import { type OpsServer, startOpsServer } from '../ops/start-ops-server.ts';
import { type EmbeddedServer, startEmbeddedServer } from '../redis/embedded-server.ts';
import { findRedisServer } from '../redis/find-redis-server.ts';
import { installRedisServer } from '../redis/install-redis-server.ts';
import { announceNode } from './announce-node.ts';
import { checkEndpointFree } from './check-endpoint-free.ts';
import { createLog } from './create-log.ts';
import { forkWorker } from './fork-worker.ts';
import { loadDemoKey } from './load-demo-key.ts';
import { lockDataDir } from './lock-data-dir.ts';
import { type Supervisor, superviseWorkers } from './supervise-workers.ts';

export interface PrimaryOptions {
  /** Reads the settings anew at each call: at the start and at every reload. */
  readonly readSource: () => ConfigSource;
  /** Whether a missing Redis server may be installed with the system's package manager. */
  readonly installsRedis: boolean;
  /** For the people who started the node. */
  readonly print: (line: string) => void;
}

/** A worker keeps an idle connection open for a while, since its client may be about to use it again. */
const STOP_LINGER_MS = 500;
/** In a roll nothing hurries: idle connections are left to the time-out that closes them anyway. */
const ROLL_LINGER_MS = 13_000;

const systemClock: Clock = { nowMs: () => Date.now() };

/** Runs the node until it is told to end; answers the exit code. Throws when it cannot start. */
export async function runPrimary(options: PrimaryOptions): Promise<number> {
  const { readSource, installsRedis, print } = options;
  let source = readSource();
  let config = parseConfig(source);
  const log = createLog(config.logLevel, 'primary');
  const lock = await lockDataDir(config.dataDir);
  let embedded: EmbeddedServer | undefined;
  let supervisor: Supervisor | undefined;
  let ops: OpsServer | undefined;
  let isReady = false;
  try {
    await checkEndpointFree(config.listen);
    const ending = createEnding();
    const demoKey = loadDemoKey(config.dataDir);
    if (config.redis === 'embedded') {
      if (installsRedis && (await findRedisServer()) === undefined) {
        await installRedisServer({ print });
      }
      embedded = await startEmbeddedServer({
        dataDir: config.dataDir,
        log,
        onGiveUp: ending.fail,
      });
    }
    supervisor = superviseWorkers({
      fork: (worker) =>
        forkWorker({ worker, source, embeddedRedisPath: embedded?.socketPath, keys: [demoKey] }),
      clock: systemClock,
      log,
      onGiveUp: ending.fail,
    });
    const workers = supervisor;
    ops = await startOpsServer({
      endpoint: config.ops.listen,
      version: packageVersion(),
      isReady: () => isReady,
    });
    await workers.start(config.workers);
    isReady = true;
    announceNode(config, demoKey, print);

    const reload = createReload(log, async () => {
      const next = readNextConfig(readSource, config);
      if (isMoved(config, next.config)) await checkEndpointFree(next.config.listen);
      ({ source, config } = next);
      await workers.roll(config.workers, {
        timeoutMs: config.drain.timeoutMs,
        lingerMs: ROLL_LINGER_MS,
      });
    });
    process.on('SIGHUP', reload);
    const reason = await ending.reached;
    process.off('SIGHUP', reload);
    isReady = false;
    if (reason instanceof Error) log.error({ err: reason }, 'the node gives up');
    else log.info({ signal: reason }, 'draining');
    const drained = workers.stop({ timeoutMs: config.drain.timeoutMs, lingerMs: STOP_LINGER_MS });
    const isHurried = await Promise.race([drained, ending.hurried]);
    if (reason instanceof Error) throw reason;
    log.info({}, isHurried === true ? 'ended without waiting' : 'drained');
    return isHurried === true ? 1 : 0;
  } finally {
    supervisor?.killAll();
    ops?.close();
    await embedded?.stop();
    lock.release();
  }
}

/** The first signal drains; a second one comes from somebody who does not want to wait for that. */
function createEnding() {
  let settle: (reason: Error | NodeJS.Signals) => void = () => {};
  const reached = new Promise<Error | NodeJS.Signals>((resolve) => {
    settle = resolve;
  });
  const hurried = new Promise<true>((resolve) => {
    let signals = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        settle(signal);
        if (++signals > 1) resolve(true);
      });
    }
  });
  return { reached, hurried, fail: (reason: Error) => settle(reason) };
}

/** One reload at a time; what is asked for meanwhile is done once more afterwards. */
function createReload(log: Log, carryOut: () => Promise<void>): () => void {
  let isRunning = false;
  let isAskedAgain = false;
  const run = async () => {
    isRunning = true;
    do {
      isAskedAgain = false;
      try {
        await carryOut();
        log.info({}, 'reloaded');
      } catch (error) {
        const problems = error instanceof ConfigError ? error.problems : [String(error)];
        log.error({ problems }, 'reload refused: the node goes on as it was');
      }
    } while (isAskedAgain);
    isRunning = false;
  };
  return () => {
    if (isRunning) isAskedAgain = true;
    else void run();
  };
}

/** Refuses what cannot change while the node runs, before anything is touched. */
function readNextConfig(readSource: () => ConfigSource, current: Config) {
  const source = readSource();
  const config = parseConfig(source);
  const problems: string[] = [];
  if (formatEndpoint(config.ops.listen) !== formatEndpoint(current.ops.listen)) {
    problems.push('ops.listen: needs a restart to change');
  }
  if (config.dataDir !== current.dataDir) problems.push('data_dir: needs a restart to change');
  if ((config.redis === 'embedded') !== (current.redis === 'embedded')) {
    problems.push('redis.url: needs a restart to change between the embedded server and another');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { source, config };
}

function isMoved(current: Config, next: Config): boolean {
  return formatEndpoint(current.listen) !== formatEndpoint(next.listen);
}
