import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CallAdmin } from '../../../bench/support/admin-api.ts';
import { createFakeClock, type FakeClock } from '../../support/servers/fake-clock.ts';
import { clockedEnv } from '../../support/servers/start-clocked-redis.ts';
import { PRICE } from './ask.ts';
import { type Layout, type LayoutName, type LayoutOptions, startLayout } from './layouts.ts';
import { makeNetworks, type Networks } from './networks.ts';
import { endServers } from './redis-server.ts';
import { mountDisk } from './small-disk.ts';
import { type FaultNode, makeNode } from './start-node.ts';
import { PLANS } from './world.ts';

export const RATE_WINDOW_MS = 5_000;
const UPSTREAM = 'dist/test/faults/support/upstream-main.js';
const NODES = ['a', 'b'];

export interface SiteOptions {
  readonly layout: LayoutName;
  /** Of each node. */
  readonly workers?: number;
  readonly hasNetworks?: boolean;
  readonly redis?: Omit<LayoutOptions, 'machines' | 'env'>;
  /** Of a single server: its files are on a disk of so many MB. */
  readonly diskMb?: number;
  /** The data folders of the nodes are on disks of so many MB. */
  readonly nodeDiskMb?: number;
  /** Of a single server: how far its clock is ahead of this machine's. */
  readonly readAheadSeconds?: () => number;
  /** The first node goes by a clock of its own. */
  readonly hasNodeClock?: boolean;
  /** The program of the nodes, if it is not the one of this checkout. */
  readonly program?: string;
  /** `books.url`: a database that is empty. */
  readonly booksUrl: string;
}

/** Everything that one row of the matrix runs on. */
export interface Site {
  readonly layout: Layout;
  readonly nodes: readonly FaultNode[];
  readonly networks: Networks | undefined;
  /** Of Redis. */
  readonly clock: FakeClock | undefined;
  /** Of the first node. */
  readonly nodeClock: FakeClock | undefined;
  /** Of any node that is there. */
  readonly admin: CallAdmin;
  remove(): Promise<void>;
}

export async function startSite(options: SiteOptions): Promise<Site> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-faults-'));
  const undos: (() => Promise<unknown> | unknown)[] = [
    () => rmSync(dir, { recursive: true, force: true }),
  ];
  const remove = async () => {
    for (const undo of undos.splice(0).reverse()) await undo();
  };
  try {
    const networks = options.hasNetworks === true ? makeNetworks() : undefined;
    if (networks !== undefined) undos.push(networks.remove);
    const upstream = fork(UPSTREAM, [networks?.hostOutside ?? '127.0.0.1']);
    undos.push(() => endUpstream(upstream));
    const [{ port }] = (await once(upstream, 'message')) as [{ port: number }];
    const machines = networks?.machines;
    if (options.diskMb !== undefined) undos.push(mountDisk(join(dir, 'redis'), options.diskMb));
    const clock = options.readAheadSeconds && createFakeClock(options.readAheadSeconds());
    const env = clock && clockedEnv(clock);
    const place = { ...options.redis, ...(machines && { machines }), ...(env && { env }) };
    const layout = await startLayout(options.layout, dir, place);
    undos.push(() => endServers([...layout.servers, ...layout.sentinels]));
    if (layout.proxy !== undefined) undos.push(layout.proxy.close);
    const base = `http://${networks?.hostOutside ?? '127.0.0.1'}:${port}`;
    const settings = describeSettings(options, layout.url, base);
    const nodeClock = options.hasNodeClock === true ? createFakeClock(0) : undefined;
    const nodes: FaultNode[] = [];
    for (const [number, name] of NODES.entries()) {
      const nodeDir = join(dir, name);
      mkdirSync(nodeDir);
      const diskMb = options.nodeDiskMb;
      if (diskMb !== undefined) undos.push(mountDisk(join(nodeDir, 'data'), diskMb));
      const machine = machines?.[number];
      const node = await makeNode({
        ...{ name, dir: nodeDir, settings },
        ...(machine && { machine }),
        ...(number === 0 && nodeClock && { env: nodeClock.env }),
      });
      undos.push(node.kill);
      nodes.push(node);
      await node.start(options.program);
    }
    const admin: CallAdmin = (method, path, body) => {
      const node = nodes.find(({ isWanted }) => isWanted);
      if (node === undefined) throw new Error('there is no node');
      return node.admin(method, path, body);
    };
    return { layout, nodes, networks, clock, nodeClock, admin, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function endUpstream(upstream: ChildProcess): Promise<void> {
  if (upstream.exitCode !== null) return;
  const ended = once(upstream, 'exit');
  upstream.disconnect();
  await ended;
}

function describeSettings(options: SiteOptions, redisUrl: string, upstreamUrl: string): string {
  const { workers = 2, booksUrl } = options;
  return `workers: ${workers}
redis: {url: "${redisUrl}"}
log_level: warn
books: {url: "${booksUrl}"}
plans: ${JSON.stringify(PLANS)}
limits: {rate_window: ${RATE_WINDOW_MS}ms}
models:
  - {id: llm-faults-1, max_output_tokens: 1000, price: {input: ${PRICE.input}, output: ${PRICE.output}}, routes: [{upstream: native}]}
upstreams:
  - {name: native, kind: native, url: "${upstreamUrl}"}
`;
}
