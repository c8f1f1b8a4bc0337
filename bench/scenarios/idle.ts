/** Counts what nodes without requests ask of Redis, and fails above the goals. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startCluster } from '../../test/proof/support/start-cluster.ts';
import {
  startRedisServer,
  stopRedisServers,
} from '../../test/support/servers/start-redis-server.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type IdleCost, measureIdle, totalOf } from '../idle/measure-idle.ts';
import { type SpawnedNode, spawnNode } from '../soak/start-soak-nodes.ts';
import { isReady } from '../support/processes.ts';
import { writeResult } from '../support/write-result.ts';

/** Commands a second: of one node for itself, and of a fleet of a hundred in all. */
const NODE_GOAL = 50;
const FLEET_GOAL = 2_000;
const FLEET_NODES = 100;
const START_MAX_MS = 60_000;
/** Shares are fair again, first rounds are over, and clients have seen the layout of a Cluster. */
const SETTLE_MS = 15_000;

const { values } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
  },
});
const nodesMax = Number(values.nodes);
const seconds = Number(values.seconds);

interface Layout {
  readonly name: string;
  readonly url: string;
  readonly ports: readonly number[];
}

async function measureLayout({ name, url, ports }: Layout): Promise<[string, IdleCost][]> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-idle-'));
  const shared = `workers: 2\nredis: {url: "${url}"}\nlog_level: error\n`;
  const nodes: SpawnedNode[] = [];
  try {
    const costs: [string, IdleCost][] = [];
    for (const count of new Set([1, nodesMax])) {
      while (nodes.length < count) {
        const id = `node-${nodes.length}`;
        const spawned = await spawnNode(join(dir, id), id, shared);
        nodes.push(spawned);
        const opsPort = Number(new URL(spawned.node.opsUrl).port);
        await waitUntil(() => isReady(opsPort), 'a node is ready', START_MAX_MS);
      }
      await sleep(SETTLE_MS);
      costs.push([name, await measureIdle(ports, count, seconds)]);
    }
    return costs;
  } finally {
    await Promise.all(nodes.map(({ node }) => node.stop()));
    rmSync(dir, { recursive: true, force: true });
  }
}

function describe(costs: readonly (readonly [string, IdleCost])[]): string {
  const show = (perSecond: number) => perSecond.toFixed(1);
  const rows = costs.map(([name, cost]) => {
    const { nodes, own, shared } = cost;
    const ofFleet = nodes === nodesMax ? Math.round(totalOf(cost, FLEET_NODES)) : '–';
    const figures = [show(own), show(shared), ofFleet];
    return `| ${name}, ${nodes} node(s) | ${figures.join(' | ')} |`;
  });
  const details = costs.map(([name, { nodes, byPurpose }]) => {
    const lines = byPurpose.map(([purpose, perSecond]) => `| ${purpose} | ${show(perSecond)} |`);
    const head = [`| ${name}, ${nodes} node(s): what for | commands a second |`, '|---|--:|'];
    return [...head, ...lines].join('\n');
  });
  const head = [
    `| commands a second | of each node | of all for all | of ${FLEET_NODES} nodes |`,
    '|---|--:|--:|--:|',
  ];
  return [[...head, ...rows].join('\n'), ...details].join('\n\n');
}

async function run(): Promise<void> {
  const server = await startRedisServer();
  const single = await measureLayout({
    name: 'one server',
    url: `redis://127.0.0.1:${server.port}`,
    ports: [server.port],
  });
  const { target } = await startCluster();
  const ports = target.topology === 'cluster' ? target.nodes.map(({ port }) => port) : [];
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  const clustered = await measureLayout({
    name: 'Cluster of three masters',
    url: `redis-cluster://${hosts}`,
    ports,
  });
  const costs = [...single, ...clustered];
  const worst = {
    node: Math.max(...costs.map(([, { own }]) => own)),
    // A node alone also does what one node of a fleet does for all: it writes the books.
    fleet: Math.max(
      ...costs
        .filter(([, { nodes }]) => nodes === nodesMax)
        .map(([, cost]) => totalOf(cost, FLEET_NODES)),
    ),
  };
  writeResult('idle', describe(costs), { options: values, costs, worst });
  if (worst.node >= NODE_GOAL || worst.fleet >= FLEET_GOAL) {
    console.error(`above the goals of ${NODE_GOAL} for each node and ${FLEET_GOAL} for all`);
    process.exitCode = 1;
  }
}

try {
  await run();
} finally {
  await stopRedisServers();
}
