import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { BUCKETS, tagOfBucket } from '../../src/keys/bucket-tags.ts';
import { crc16 } from '../../src/keys/checksum.ts';
import type { RedisTarget } from '../../src/lib/address/redis-target.ts';
import { findFreePort } from '../../test/support/servers/find-free-port.ts';
import { NO_AUTH } from '../../test/support/servers/redis-connection.ts';
import { waitUntil } from '../../test/support/wait-until.ts';

const MASTERS = 3;
const SERVERS = 2 * MASTERS;
/** How long a master must be silent to count as down, while it is killed; else nobody is in a hurry. */
const NODE_TIMEOUT_MS = 2_000;
const CALM_TIMEOUT_MS = 20_000;
const SLOTS = 16_384;
/** Two runs at a time have two networks, in a part of 10/8 that hardly anybody uses. */
const SUBNET = `10.232.${process.pid % 256}`;
const BRIDGE = `tgb${process.pid}`;
const ASK_MAX_MS = 10_000;
const POLL_MS = 100;

interface Server {
  readonly host: string;
  readonly port: number;
  readonly busPort: number;
  readonly pid: number;
  /** Empty if the server does not answer. */
  ask(...command: [string, ...string[]]): Promise<string>;
  kill(): Promise<void>;
}

export interface FleetCluster {
  readonly target: RedisTarget;
  /** Whether each server has a network namespace of its own. */
  readonly isIsolated: boolean;
  /** The masters at first. */
  readonly masters: readonly Server[];
  readonly servers: readonly Server[];
  /** The buckets of the master that can be killed. */
  readonly doomedBuckets: ReadonlySet<number>;
  /** Of the master that has most. */
  countConnections(): Promise<number>;
  /** Resolves when another server has taken over. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Three masters with a replica each, every server in a network namespace of its own if that can be. */
export async function startFleetCluster(dir: string): Promise<FleetCluster> {
  const isIsolated = addBridge();
  const servers: Server[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.kill()));
    if (isIsolated) run('ip', 'link', 'delete', BRIDGE);
  };
  try {
    for (let n = 0; n < SERVERS; n++) servers.push(await startServer(dir, n, isIsolated));
    const addresses = servers.map(({ host, port, busPort }) => `${host}:${port}@${busPort}`);
    const isThere = async (server: Server) => (await server.ask('ping')) === 'PONG';
    await waitForAll(servers, isThere, 'the servers answer');
    const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1'];
    run('redis-cli', ...create, '--cluster-yes');
    const isFormed = async (server: Server) =>
      (await server.ask('cluster', 'info')).includes('cluster_state:ok') &&
      ((await server.ask('cluster', 'nodes')).match(/\bslave /g) ?? []).length === MASTERS;
    await waitForAll(servers, isFormed, 'the cluster is formed');
    const masters = servers.slice(0, MASTERS);
    const isFollowed = async (server: Server) =>
      (await server.ask('info', 'replication')).includes('state=online');
    await waitForAll(masters, isFollowed, 'the replicas follow');
    const [doomed] = masters;
    if (doomed === undefined) throw new Error('there are no servers');
    return {
      target: {
        topology: 'cluster',
        nodes: servers.map(({ host, port }) => ({ kind: 'tcp', host, port })),
        ...{ tls: false, auth: NO_AUTH },
      },
      ...{ isIsolated, masters, servers, stop },
      doomedBuckets: await findBuckets(doomed),
      countConnections: () => countConnections(masters),
      failOver: () => failOver(servers, doomed),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function waitForAll(
  servers: readonly Server[],
  condition: (server: Server) => Promise<boolean>,
  what: string,
): Promise<void> {
  const isMet = async () => {
    if ((await Promise.all(servers.map(condition))).every(Boolean)) return true;
    await sleep(POLL_MS);
    return false;
  };
  await waitUntil(isMet, what);
}

async function countConnections(masters: readonly Server[]): Promise<number> {
  const infos = await Promise.all(masters.map((master) => master.ask('info', 'clients')));
  return Math.max(...infos.map((info) => Number(/^connected_clients:(\d+)/m.exec(info)?.[1])));
}

async function failOver(servers: readonly Server[], doomed: Server): Promise<void> {
  const setTimeouts = (some: readonly Server[], ms: number) =>
    Promise.all(some.map((each) => each.ask('config', 'set', 'cluster-node-timeout', `${ms}`)));
  const others = servers.filter((server) => server !== doomed);
  await setTimeouts(servers, NODE_TIMEOUT_MS);
  await doomed.kill();
  // For a while the others believe that it is still there.
  const isOver = async (server: Server) => {
    const lines = (await server.ask('cluster', 'nodes')).split('\n');
    const serving = lines.filter((line) => /\bmaster - .* connected \d/.test(line));
    const isThere = serving.some((line) => line.includes(` ${doomed.host}:${doomed.port}@`));
    return serving.length === MASTERS && !isThere;
  };
  await waitForAll(others, isOver, 'another master has taken over');
  await setTimeouts(others, CALM_TIMEOUT_MS);
}

async function findBuckets(server: Server): Promise<ReadonlySet<number>> {
  const view = await server.ask('cluster', 'nodes');
  const [, first, last] = / myself,master .* (\d+)-(\d+)$/m.exec(view) ?? [];
  if (first === undefined || last === undefined) throw new Error(`no slots in ${view}`);
  const buckets = Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  const isOwn = (slot: number) => slot >= Number(first) && slot <= Number(last);
  return new Set(buckets.filter((bucket) => isOwn(crc16(tagOfBucket(bucket)) % SLOTS)));
}

async function startServer(dir: string, n: number, isIsolated: boolean): Promise<Server> {
  const host = isIsolated ? `${SUBNET}.${10 + n}` : '127.0.0.1';
  const port = isIsolated ? 7_000 : await findFreePort();
  const busPort = isIsolated ? 17_000 : await findFreePort();
  const serverDir = join(dir, `redis-${n}`);
  mkdirSync(serverDir, { recursive: true });
  const args = [
    ...['--port', `${port}`, '--bind', isIsolated ? '0.0.0.0' : host, '--protected-mode', 'no'],
    ...['--dir', serverDir, '--save', '', '--cluster-enabled', 'yes'],
    ...['--cluster-port', `${busPort}`, '--cluster-node-timeout', `${CALM_TIMEOUT_MS}`],
    ...['--cluster-require-full-coverage', 'no', '--cluster-replica-validity-factor', '0'],
  ];
  const command = isIsolated ? ['unshare', '-n', 'redis-server'] : ['redis-server'];
  const [program = '', ...first] = command;
  const child = spawn(program, [...first, ...args], { stdio: 'ignore' });
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  process.once('exit', () => child.kill('SIGKILL'));
  if (isIsolated) await plugIn(pid, n, host);
  const client = connect(host, port);
  return {
    ...{ host, port, busPort, pid },
    ask: (name, ...rest) =>
      client.call(name, rest).then(
        (reply) => String(reply),
        () => '',
      ),
    async kill() {
      client.disconnect();
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Connects the namespace of a process to the bridge. It goes with the process. */
async function plugIn(pid: number, n: number, host: string): Promise<void> {
  const link = `${BRIDGE}v${n}`;
  const inside = (...args: string[]) => run('nsenter', '-t', `${pid}`, '-n', 'ip', ...args);
  // Until it has left our namespace, a process would take its cable with it.
  const own = namespaceOf('self');
  await waitUntil(() => namespaceOf(`${pid}`) !== own, 'the namespace is there');
  run('ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', `${pid}`);
  run('ip', 'link', 'set', link, 'master', BRIDGE, 'up');
  inside('addr', 'add', `${host}/24`, 'dev', 'eth0');
  inside('link', 'set', 'eth0', 'up');
  inside('link', 'set', 'lo', 'up');
}

function namespaceOf(pid: string): string {
  return run('readlink', `/proc/${pid === 'self' ? process.pid : pid}/ns/net`);
}

/** False if this user may not have networks of its own. */
function addBridge(): boolean {
  try {
    run('ip', 'link', 'add', BRIDGE, 'type', 'bridge');
  } catch {
    return false;
  }
  run('ip', 'addr', 'add', `${SUBNET}.1/24`, 'dev', BRIDGE);
  run('ip', 'link', 'set', BRIDGE, 'up');
  return true;
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A connection that stays: a process for each question would take longer than the answer. */
function connect(host: string, port: number): Redis {
  const client = new Redis({
    ...{ host, port, enableOfflineQueue: false, commandTimeout: ASK_MAX_MS },
    retryStrategy: () => POLL_MS,
  });
  // Commands that find no connection say so.
  client.on('error', () => {});
  return client;
}
