import { execFileSync } from 'node:child_process';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { NO_AUTH, tcp } from '../../support/servers/redis-connection.ts';
import {
  startRedisServer,
  type TestRedisServer,
} from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { type FailoverSite, waitForReplicas } from './start-sentinels.ts';

const MASTERS = 3;

/** How long a master must be silent to count as down. */
const NODE_TIMEOUT_MS = 2_000;

/** A replica may take over, however long it was cut off. */
const CONFIG = [
  'cluster-enabled yes',
  'cluster-node-timeout 20000',
  'cluster-require-full-coverage no',
  'cluster-replica-validity-factor 0',
  '',
].join('\n');

/** Three masters with one replica each. */
export async function startCluster(config = CONFIG): Promise<FailoverSite> {
  const nodes: TestRedisServer[] = [];
  const addresses: string[] = [];
  for (let n = 0; n < 2 * MASTERS; n++) {
    const busPort = await findFreePort();
    const node = await startRedisServer({ config, args: ['--cluster-port', `${busPort}`] });
    nodes.push(node);
    addresses.push(`127.0.0.1:${node.port}@${busPort}`);
  }
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'];
  execFileSync('redis-cli', create);
  await waitUntil(async () => {
    const infos = await Promise.all(nodes.map((node) => node.cli('cluster', 'info')));
    const views = await Promise.all(nodes.map((node) => node.cli('cluster', 'nodes')));
    const isFormed = infos.every((info) => info.includes('cluster_state:ok'));
    return isFormed && views.every((view) => (view.match(/\bslave /g) ?? []).length === MASTERS);
  }, 'the cluster is formed');
  const [master] = nodes;
  if (master === undefined) throw new Error('there are no nodes');
  for (const node of nodes.slice(0, MASTERS)) await waitForReplicas(node, 1);
  return {
    master,
    async killMaster() {
      const set = ['config', 'set', 'cluster-node-timeout', `${NODE_TIMEOUT_MS}`];
      await Promise.all(nodes.map((node) => node.cli(...set)));
      await master.stop();
    },
    async isFailedOver() {
      const others = nodes.filter((node) => node !== master);
      const views = await Promise.all(others.map((node) => node.cli('cluster', 'nodes')));
      return views.every(
        (view) => (view.match(/\bmaster - .* connected \d/g) ?? []).length === MASTERS,
      );
    },
    target: {
      topology: 'cluster',
      nodes: nodes.map(({ port }) => tcp(port)),
      tls: false,
      auth: NO_AUTH,
    },
  };
}
