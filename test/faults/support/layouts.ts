import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../support/servers/find-free-port.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Machine } from './networks.ts';
import {
  endServers,
  type FaultServer,
  type ServerPlace,
  startFaultServer,
} from './redis-server.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

export type LayoutName = 'standalone' | 'sentinel' | 'cluster';

/** The servers of one row, with the settings that deploy/redis recommends. */
export interface Layout {
  /** `redis.url` of the nodes. */
  readonly url: string;
  /** Those that take writes at first come first. */
  readonly servers: readonly FaultServer[];
  readonly sentinels: readonly FaultServer[];
  readonly proxy?: TcpProxy;
}

export interface LayoutOptions {
  /** Servers are on one after the other; each Sentinel is beside a server. */
  readonly machines?: readonly Machine[];
  /** More arguments for each server. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A single server is reached through a proxy. */
  readonly hasProxy?: boolean;
}

const SERVERS_OF_SENTINEL = 3;
const SENTINELS = 3;
export const MASTERS_OF_CLUSTER = 3;
/** A replica each, and one more, which follows a master that has lost its own. */
const CLUSTER_SERVERS = 7;
/** Seconds: as long as a replica needs to come back, and no row waits for more. */
const READY_MAX_MS = 90_000;

const readConfig = (name: string) => readFileSync(`deploy/redis/${name}.conf`, 'utf8');
/** Read when this file is loaded, so that a short row fails too if one of them is missing. */
const CONFIGS = {
  standalone: readConfig('standalone'),
  primary: readConfig('primary'),
  sentinel: readConfig('sentinel'),
  cluster: readConfig('cluster'),
};

/** Ends whatever it has started if it fails. */
export async function startLayout(
  name: LayoutName,
  dir: string,
  options: LayoutOptions = {},
): Promise<Layout> {
  const started: FaultServer[] = [];
  const start = async (place: ServerPlace) => {
    const server = await startFaultServer(place);
    started.push(server);
    return server;
  };
  try {
    return await { standalone: startOne, sentinel: startSentinels, cluster: startCluster }[name](
      start,
      dir,
      options,
    );
  } catch (error) {
    await endServers(started);
    throw error;
  }
}

type Start = (place: ServerPlace) => Promise<FaultServer>;

async function startOne(start: Start, dir: string, options: LayoutOptions): Promise<Layout> {
  const { args = [], env, hasProxy = false } = options;
  const port = await findFreePort();
  const config = CONFIGS.standalone;
  const server = await start({ dir: join(dir, 'redis'), port, config, args, ...(env && { env }) });
  const servers = [server];
  if (!hasProxy) return { url: `redis://127.0.0.1:${port}`, servers, sentinels: [] };
  const proxy = await startTcpProxy(port);
  return { url: `redis://127.0.0.1:${proxy.port}`, servers, sentinels: [], proxy };
}

const networkOf = (machine: Machine | undefined) =>
  machine && { network: { namespace: machine.namespace, host: machine.redisHost } };

async function startSentinels(start: Start, dir: string, options: LayoutOptions): Promise<Layout> {
  const { machines = [], args = [] } = options;
  const servers: FaultServer[] = [];
  for (let number = 0; number < SERVERS_OF_SENTINEL; number += 1) {
    const [master] = servers;
    const follow = master === undefined ? [] : ['--replicaof', `${master.host} ${master.port}`];
    servers.push(
      await start({
        ...{ dir: join(dir, `redis-${number}`), port: await findFreePort() },
        ...{ config: CONFIGS.primary, args: [...args, ...follow] },
        ...networkOf(machines[number]),
      }),
    );
  }
  const [master] = servers;
  if (master === undefined) throw new Error('there is no server');
  await waitUntil(
    async () => (await countReplicas(master)) === SERVERS_OF_SENTINEL - 1,
    'the replicas follow',
    READY_MAX_MS,
  );
  const sentinels: FaultServer[] = [];
  for (let number = 0; number < SENTINELS; number += 1) {
    const port = await findFreePort();
    const config = CONFIGS.sentinel
      .replace(/^(?:port|dir) .*$/gm, '')
      .replace(/^sentinel monitor .*$/m, `sentinel monitor main ${master.host} ${master.port} 2`);
    const place = { dir: join(dir, `sentinel-${number}`), port, config, isSentinel: true };
    sentinels.push(await start({ ...place, ...networkOf(machines[number]) }));
  }
  await waitUntil(
    async () => {
      const views = await Promise.all(sentinels.map((s) => s.cli('sentinel', 'master', 'main')));
      return views.every(
        (view) =>
          view.includes(`num-slaves\n${SERVERS_OF_SENTINEL - 1}\n`) &&
          view.includes(`num-other-sentinels\n${SENTINELS - 1}\n`),
      );
    },
    'the Sentinels know the servers and each other',
    READY_MAX_MS,
  );
  const places = sentinels.map(({ host, port }) => `${host}:${port}`).join(',');
  return { url: `redis-sentinel://${places}/main`, servers, sentinels };
}

async function startCluster(start: Start, dir: string, options: LayoutOptions): Promise<Layout> {
  const { machines = [] } = options;
  const servers: FaultServer[] = [];
  const places: string[] = [];
  for (let number = 0; number < CLUSTER_SERVERS; number += 1) {
    const [port, busPort] = [await findFreePort(), await findFreePort()];
    const args = ['--cluster-port', `${busPort}`, ...(options.args ?? [])];
    const config = CONFIGS.cluster;
    const network = networkOf(machines[number % machines.length]);
    const place = { dir: join(dir, `redis-${number}`), port, config, args, ...network };
    const server = await start(place);
    servers.push(server);
    places.push(`${server.host}:${port}@${busPort}`);
  }
  const create = ['--cluster', 'create', ...places, '--cluster-replicas', '1', '--cluster-yes'];
  const inside = machines[0] === undefined ? [] : ['ip', 'netns', 'exec', machines[0].namespace];
  const [program = '', ...args] = [...inside, 'redis-cli', ...create];
  execFileSync(program, args, { stdio: 'ignore' });
  await waitUntil(
    async () => {
      const infos = await Promise.all(servers.map((server) => server.cli('cluster', 'info')));
      if (!infos.every((info) => info.includes('cluster_state:ok'))) return false;
      const counts = await Promise.all(servers.slice(0, MASTERS_OF_CLUSTER).map(countReplicas));
      return counts.reduce((sum, count) => sum + count, 0) === CLUSTER_SERVERS - MASTERS_OF_CLUSTER;
    },
    'the cluster is formed',
    READY_MAX_MS,
  );
  const masters = servers.slice(0, MASTERS_OF_CLUSTER).map(({ host, port }) => `${host}:${port}`);
  const url = `redis-cluster://${masters.join(',')}`;
  return { url, servers, sentinels: [] };
}

/** The replicas of a master, as they are now. */
export async function findReplicas(
  master: FaultServer,
  servers: readonly FaultServer[],
): Promise<FaultServer[]> {
  const infos = await Promise.all(servers.map((server) => server.cli('INFO', 'replication')));
  return servers.filter((_, index) => infos[index]?.includes(`master_port:${master.port}\r`));
}

export async function countReplicas(master: FaultServer): Promise<number> {
  const info = await master.cli('info', 'replication');
  return (info.match(/state=online/g) ?? []).length;
}
