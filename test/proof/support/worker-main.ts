import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGatheredAdmit } from '../../../src/quota/scripts/admit.ts';
import { createGatheredSettle } from '../../../src/quota/scripts/settle.ts';
import { connectRedis } from '../../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { patchScripts } from '../../support/patch-scripts.ts';
import { standalone, tcp, waitForRedis } from '../../support/servers/redis-connection.ts';
import type { ClientOptions } from '../clients/client.ts';
import { openEventLog } from './event-log.ts';
import { PROFILES } from './profiles.ts';
import { createRandom } from './random.ts';
import type { WorkerOrder } from './worker-order.ts';

const CLIENTS = 24;
/** A slow machine is no reason to lose a reply. */
const COMMAND_TIMEOUT_MS = 20_000;

/** A process of the proof: many concurrent clients, until it is told to stop or killed. */
async function runWorker(order: WorkerOrder): Promise<void> {
  let isStopping = false;
  process.on('message', () => {
    isStopping = true;
  });
  process.on('disconnect', () => process.exit(1));
  const profile = PROFILES[order.profile];
  const target = standalone(tcp(order.port));
  const redis = connectRedis({
    target,
    name: order.tag,
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log: createMemoryLog(),
  });
  await waitForRedis(redis);
  const log = openEventLog(join(order.dir, order.tag));
  const { atTurnEnd, isCluster } = redis;
  const connection = { ...patchScripts(redis, order.patches), atTurnEnd, isCluster };
  const admit = createGatheredAdmit(connection);
  const settle = createGatheredSettle(connection, DEFAULT_WARNINGS);
  const { world, plans } = order;
  const { windowMs, leaseMs } = profile;
  const clients = Array.from({ length: CLIENTS }, (_, n) => {
    const random = createRandom(order.seed + n);
    const tag = order.tag + String(n).padStart(2, '0');
    const options: ClientOptions = {
      connection,
      admit,
      settle,
      world,
      random,
      log,
      tag,
      windowMs,
      leaseMs,
      plans,
    };
    return profile.runClient(options, () => isStopping);
  });
  await Promise.all(clients);
  log.close();
  process.exit(0);
}

const [, , orderFile = ''] = process.argv;
await runWorker(JSON.parse(readFileSync(orderFile, 'utf8')) as WorkerOrder);
