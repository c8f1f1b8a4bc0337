import type { RedisTarget } from '../../lib/address/redis-target.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { CheckName } from '../checks.ts';
import { type Finding, failCheck, joinFindings, passCheck, skipCheck } from '../finding.ts';
import type { Check } from '../run-check.ts';
import { checkRights, checkWrites } from './check-access.ts';
import { checkClocks, checkLatency } from './check-pace.ts';
import { checkTopology } from './check-topology.ts';
import { judgeReplicas } from './judge-replicas.ts';
import {
  judgeConnections,
  judgeEviction,
  judgeMemory,
  judgePersistence,
  judgeVersion,
} from './judge-server.ts';
import type { StoreAccess } from './open-store.ts';
import { readServerFacts, type ServerFacts } from './server-facts.ts';

interface StoreCheckOptions {
  readonly target: RedisTarget;
  readonly isEmbedded: boolean;
  /** Rejects with the reason if Redis does not answer. */
  readonly opening: Promise<StoreAccess>;
  readonly clock: Clock;
}

export function createStoreChecks({
  target,
  isEmbedded,
  opening,
  clock,
}: StoreCheckOptions): Check[] {
  const reading = opening.then(({ masters }) => Promise.all(masters.map(readServerFacts)));
  // Each check awaits `reading` itself. A failure before that must not count as unhandled.
  reading.catch(() => {});
  const ofServers = (name: CheckName, judge: (facts: ServerFacts) => Finding): Check => ({
    name,
    run: () =>
      reading.then(
        (all) => joinFindings(all.map((facts) => ({ part: facts.name, finding: judge(facts) }))),
        skipUnreached,
      ),
  });
  const ofStore = (name: CheckName, run: (store: StoreAccess) => Promise<Finding>): Check => ({
    name,
    run: async () => {
      const store = await opening.catch(() => undefined);
      return store === undefined ? skipUnreached() : run(store);
    },
  });
  return [
    { name: 'redis-reachable', run: () => checkReachable(opening) },
    { name: 'redis-topology', run: () => checkTopology(target) },
    ofServers('redis-version', judgeVersion),
    ofServers('redis-persistence', judgePersistence),
    ofServers('redis-eviction', judgeEviction),
    ofServers('redis-memory', (facts) => judgeMemory(facts, isEmbedded)),
    ofServers('redis-connections', judgeConnections),
    ofServers('redis-replicas', (facts) => judgeReplicas(facts, target.topology)),
    ofStore('redis-writes', ({ connection }) => checkWrites(connection)),
    ofStore('redis-rights', ({ connection }) => checkRights(connection)),
    ofStore('redis-latency', ({ masters }) => checkLatency(masters)),
    ofStore('redis-clock', ({ masters }) => checkClocks(masters, clock)),
  ];
}

async function checkReachable(opening: Promise<StoreAccess>): Promise<Finding> {
  try {
    const { masters, silent } = await opening;
    if (silent.length === 0) return passCheck(masters.map(({ name }) => name).join(', '));
    return failCheck(
      silent.join('; '),
      'Bring these masters back: the accounts on them get no answers.',
    );
  } catch (error) {
    const { message } = error as Error;
    return failCheck(message, adviseOn(message));
  }
}

function adviseOn(message: string): string {
  if (message.includes('has no database')) {
    return 'Name a database in redis.url that Redis has, best none, or give the user +select.';
  }
  return /NOAUTH|WRONGPASS|NOPERM/.test(message)
    ? 'Put the right user and password into redis.url.'
    : 'Start Redis, or correct redis.url or the network to it.';
}

function skipUnreached(): Finding {
  return skipCheck('Redis cannot be reached');
}
