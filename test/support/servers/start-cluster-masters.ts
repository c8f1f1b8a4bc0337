import { execFileSync } from 'node:child_process';
import { waitUntil } from '../wait-until.ts';
import { findFreePort } from './find-free-port.ts';
import { startRedisServer, type TestRedisServer } from './start-redis-server.ts';

/** As many as `redis-cli` needs to make a Cluster. */
const MASTERS = 3;

/** A Cluster without replicas. */
export async function startClusterMasters(): Promise<readonly TestRedisServer[]> {
  const addresses: string[] = [];
  const nodes: TestRedisServer[] = [];
  for (let n = 0; n < MASTERS; n += 1) {
    const busPort = await findFreePort();
    const node = await startRedisServer({
      args: [
        ...['--cluster-enabled', 'yes', '--cluster-port', `${busPort}`],
        ...['--cluster-require-full-coverage', 'no'],
      ],
    });
    nodes.push(node);
    addresses.push(`127.0.0.1:${node.port}@${busPort}`);
  }
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  await waitUntil(async () => {
    const infos = await Promise.all(nodes.map((node) => node.cli('cluster', 'info')));
    return infos.every((info) => info.includes('cluster_state:ok'));
  }, 'the cluster is formed');
  return nodes;
}
