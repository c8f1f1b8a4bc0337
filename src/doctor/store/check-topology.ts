import { formatEndpoint } from '../../lib/address/parse-endpoint.ts';
import type { RedisTarget } from '../../lib/address/redis-target.ts';
import {
  type Finding,
  failCheck,
  joinFindings,
  passCheck,
  skipCheck,
  warnCheck,
} from '../finding.ts';
import { openStore, type StoreAccess } from './open-store.ts';
import { parseInfo } from './server-facts.ts';

type Of<Topology> = Extract<RedisTarget, { topology: Topology }>;
type Endpoint = Of<'standalone'>['endpoint'];

const SLOTS = 16_384;
const SCHEME_OF = {
  standalone: 'redis://',
  sentinel: 'redis-sentinel://',
  cluster: 'redis-cluster://',
} as const;

/**
 * Asks each server that the settings name separately, since it may be of another kind than the
 * settings say.
 */
export async function checkTopology(target: RedisTarget): Promise<Finding> {
  switch (target.topology) {
    case 'standalone':
      return judgeDatabase(await checkStandalone(target), target);
    case 'sentinel':
      return judgeDatabase(await checkSentinels(target), target);
    case 'cluster':
      return await checkCluster(target);
  }
}

function judgeDatabase(finding: Finding, { database }: { readonly database: number }): Finding {
  return finding.state !== 'ok' || database === 0
    ? finding
    : warnCheck(
        `${finding.found}; messages of nodes reach all its databases, not ${database} alone`,
        'Give each fleet a Redis of its own: two on one server hear each other.',
      );
}

async function checkStandalone(target: Of<'standalone'>): Promise<Finding> {
  const server = await openStore(target).catch(() => undefined);
  if (server === undefined) return skipCheck('Redis cannot be reached');
  try {
    const info = await readInfo(server);
    const wrong = findWrongKind(info, 'standalone');
    if (wrong !== undefined) return wrong;
    return info.get('role') === 'slave'
      ? failCheck(
          `a replica of ${info.get('master_host')}:${info.get('master_port')}`,
          'Point redis.url at the master: a replica takes no writes.',
        )
      : passCheck('one server');
  } finally {
    await server.close();
  }
}

async function checkSentinels(target: Of<'sentinel'>): Promise<Finding> {
  const parts = await Promise.all(
    target.sentinels.map(async (endpoint) => ({
      part: formatEndpoint(endpoint),
      finding: await askNamed(target, endpoint, (server) => askSentinel(server, target.masterName)),
    })),
  );
  return joinFindings(parts);
}

async function askSentinel(server: StoreAccess, masterName: string): Promise<Finding> {
  const wrong = findWrongKind(await readInfo(server), 'sentinel');
  if (wrong !== undefined) return wrong;
  try {
    await server.connection.send('sentinel', ['ckquorum', masterName]);
    return passCheck('Sentinels that can agree on a failover');
  } catch (error) {
    const { message } = error as Error;
    return message.includes('No such master')
      ? failCheck(
          `no master with the name ${masterName}`,
          'Write the name in redis.url as the Sentinels have it (SENTINEL MASTERS).',
        )
      : warnCheck(message, 'Start the missing Sentinels: now they cannot agree on a failover.');
  }
}

async function checkCluster(target: Of<'cluster'>): Promise<Finding> {
  const parts = await Promise.all(
    target.nodes.map(async (endpoint) => ({
      part: formatEndpoint(endpoint),
      finding: await askNamed(target, endpoint, askClusterNode),
    })),
  );
  return joinFindings(parts);
}

async function askClusterNode(server: StoreAccess): Promise<Finding> {
  const wrong = findWrongKind(await readInfo(server), 'cluster');
  if (wrong !== undefined) return wrong;
  const cluster = parseInfo(String(await server.connection.send('cluster', ['info'])));
  const servedSlots = Number(cluster.get('cluster_slots_ok'));
  if (servedSlots < SLOTS || cluster.get('cluster_state') !== 'ok') {
    return failCheck(
      `state ${cluster.get('cluster_state')}, ${servedSlots} of ${SLOTS} slots are served`,
      'Assign the missing slots, or bring their masters back (redis-cli --cluster check).',
    );
  }
  return passCheck(`a Cluster of ${cluster.get('cluster_size')} masters, all slots served`);
}

/** A server that does not answer is only a warning, since the others know where everything is. */
async function askNamed(
  { tls, auth, topology }: RedisTarget,
  endpoint: Endpoint,
  ask: (server: StoreAccess) => Promise<Finding>,
): Promise<Finding> {
  // As in the connections of workers: sentinels do not know the user of the data servers.
  const isOfOthers = topology === 'sentinel' && auth.username !== undefined;
  const none = { username: undefined, password: undefined };
  const target: RedisTarget = {
    ...{ topology: 'standalone', endpoint, tls, auth: isOfOthers ? none : auth, database: 0 },
  };
  let server: StoreAccess;
  try {
    server = await openStore(target);
  } catch (error) {
    return warnCheck(
      `cannot be reached: ${(error as Error).message}`,
      'Start it, or take it out of redis.url.',
    );
  }
  try {
    return await ask(server);
  } finally {
    await server.close();
  }
}

async function readInfo({ connection }: StoreAccess): Promise<Map<string, string>> {
  return parseInfo(String(await connection.send('info', [])));
}

function findWrongKind(
  info: ReadonlyMap<string, string>,
  expected: RedisTarget['topology'],
): Finding | undefined {
  const mode = info.get('redis_mode') ?? info.get('server_mode') ?? expected;
  if (mode === expected || !(mode in SCHEME_OF)) return undefined;
  const names = { standalone: 'one server alone', sentinel: 'a Sentinel', cluster: 'a Cluster' };
  return failCheck(
    `${names[mode as keyof typeof names]}, and redis.url says ${SCHEME_OF[expected]}`,
    `Write redis.url with ${SCHEME_OF[mode as keyof typeof SCHEME_OF]}, or with the address of another server.`,
  );
}
