import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../src/log/create-log.ts';
import type { Violation } from '../../test/proof/checks/violations.ts';
import type { ProofEvent } from '../../test/proof/support/event-log.ts';
import { createRandom, type Random } from '../../test/proof/support/random.ts';
import { writeWorld } from '../../test/proof/support/world.ts';
import type { RequestPlans } from '../../test/support/limits/request-plans.ts';
import {
  closeConnections,
  openConnection,
  waitForRedis,
} from '../../test/support/servers/redis-connection.ts';
import { startFleetAudit } from './audit-fleet.ts';
import { checkFleetEvents, type EventFigures } from './check-events.ts';
import { type FleetCluster, startFleetCluster } from './fleet-cluster.ts';
import { type FleetProcesses, startFleetProcesses } from './fleet-processes.ts';
import { createFleetWorld, type FleetAccount, PLANS, WINDOW_MS } from './fleet-world.ts';
import { type ChangeMeter, createChangeMeter, type Spread } from './measure-changes.ts';
import { startPayments } from './start-payments.ts';
import { startVirtualNode, type VirtualNode } from './virtual-node.ts';
import { type LoadFigures, watchLoad } from './watch-load.ts';

export interface FleetPlan {
  readonly nodes: number;
  readonly processes: number;
  readonly accounts: number;
  /** Of all nodes together. */
  readonly requestsPerS: number;
  /** How long each of the calm spans is watched. */
  readonly seconds: number;
  /** How often something is changed while nothing else happens. */
  readonly changes: number;
  readonly onStep: (step: string) => void;
}

export interface ChangeFigures {
  readonly revocations: readonly Spread[];
  readonly catalogues: readonly Spread[];
}

export interface FleetResult {
  readonly isIsolated: boolean;
  readonly idle: LoadFigures;
  readonly loaded: LoadFigures;
  readonly calm: ChangeFigures;
  readonly disturbed: ChangeFigures;
  /** The longest time without an admission in the buckets of the master that died. */
  readonly outageMs: number;
  readonly failoverMs: number;
  readonly restarted: number;
  readonly busiestAccountShare: number;
  readonly events: EventFigures;
  readonly refusals: Readonly<Record<string, number>>;
  readonly snapshots: number;
  readonly violations: readonly Violation[];
}

interface Site {
  readonly cluster: FleetCluster;
  readonly world: readonly FleetAccount[];
  readonly processes: FleetProcesses;
  readonly operator: VirtualNode;
  readonly audit: ReturnType<typeof startFleetAudit>;
  readonly random: Random;
  readonly plans: RequestPlans;
}

const WARM_UP_MS = 3_000;
const RESTARTS_MAX = 5;

/** Runs a fleet through calm, changes, a failover and a rolling restart, and checks all of it. */
export async function runFleet(plan: FleetPlan): Promise<FleetResult> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-fleet-'));
  const closers: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  try {
    const site = await startSite(plan, dir, closers);
    return await runPhases(plan, site);
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

async function startSite(plan: FleetPlan, dir: string, closers: (() => unknown)[]): Promise<Site> {
  const random = createRandom(randomBytes(4).readUInt32LE());
  const cluster = await startFleetCluster(dir);
  closers.push(cluster.stop);
  const connection = openConnection(cluster.target);
  closers.push(closeConnections);
  await waitForRedis(connection);
  plan.onStep('writing accounts');
  const world = createFleetWorld(plan.accounts, random);
  await writeWorld(connection, world);
  // Changes are asked for on all nodes at once, with one key.
  const plans = { ...PLANS, team: Math.max(PLANS.team, 2 * plan.nodes) };
  const settings = describeSettings(cluster, plans);
  plan.onStep('starting nodes');
  const operator = await startVirtualNode({
    ...{ id: 'operator', dir, settings, readOpen: () => 0, onCatalogue: () => {} },
    log: createLog('error', 'operator'),
  });
  closers.push(operator.stop);
  const requestsPerS = plan.requestsPerS / plan.nodes;
  const seed = random.int(1, 1e9);
  const processes = await startFleetProcesses(
    { settings, dir, plans, world, requestsPerS, seed },
    plan,
  );
  closers.push(processes.kill);
  const audit = startFleetAudit(connection, world);
  closers.push(audit.pause);
  return { cluster, world, processes, operator, audit, random, plans };
}

function describeSettings({ servers }: FleetCluster, plans: RequestPlans): string {
  const url = servers.map(({ host, port }) => `${host}:${port}`).join(',');
  return [
    'workers: 1',
    'log_level: error',
    'catalogue: store',
    `redis: {url: "redis-cluster://${url}"}`,
    `limits: {rate_window: ${WINDOW_MS / 1_000}s}`,
    `plans: ${JSON.stringify(plans)}`,
  ].join('\n');
}

async function runPhases(plan: FleetPlan, site: Site): Promise<FleetResult> {
  const { cluster, world, processes, operator, audit } = site;
  const { nodes, seconds, onStep } = plan;
  const watched = { cluster, pids: processes.pids, nodes, seconds };
  onStep('idle');
  await sleep(WARM_UP_MS);
  const idle = await watchLoad(watched);
  processes.tell({ type: 'load', isOn: true });
  const payments = startPayments(site);
  onStep('load');
  await sleep(WARM_UP_MS);
  const loaded = await watchLoad(watched);
  onStep('changes');
  const meter = createChangeMeter(operator, processes);
  let left = plan.changes;
  const calm = await change(meter, () => left-- > 0);
  onStep('failover and rolling restart');
  const { failover, disturbed, restarted } = await disturb(site, meter);
  await sleep(WARM_UP_MS);
  processes.tell({ type: 'load', isOn: false });
  const paid = await payments.stop();
  onStep('end');
  const ended = await processes.stop();
  const book = await audit.finish();
  const events = processes.readEvents();
  const { report } = audit;
  for (const fault of ended.flatMap(({ faults }) => faults)) report('fault', fault);
  if (ended.length < plan.processes) report('fault', 'a process of nodes did not end as it should');
  reportMissing([calm, disturbed], report);
  const { doomedBuckets } = cluster;
  const checked = {
    world,
    plans: site.plans,
    failover,
    doomedBuckets,
    book,
    payments: paid,
    report,
  };
  return {
    ...{ isIsolated: cluster.isIsolated, idle, loaded, calm, disturbed, restarted },
    events: checkFleetEvents(events, checked),
    failoverMs: failover.untilMs - failover.fromMs,
    outageMs: findOutage(events, world, doomedBuckets),
    busiestAccountShare: shareOfFirst(events, world),
    refusals: sumUp(ended.map(({ refusals }) => refusals)),
    ...{ snapshots: audit.snapshots, violations: audit.violations },
  };
}

async function change(meter: ChangeMeter, goesOn: () => boolean): Promise<ChangeFigures> {
  const revocations: Spread[] = [];
  const catalogues: Spread[] = [];
  while (goesOn()) {
    revocations.push(await meter.revoke());
    catalogues.push(await meter.changeCatalogue());
  }
  return { revocations, catalogues };
}

/**
 * Starts all nodes anew, and kills a master while that goes on. A small fleet is up again before it
 * can hear of anything: its nodes are started anew once more.
 */
async function disturb({ cluster, processes, audit }: Site, meter: ChangeMeter) {
  let isOver = false;
  // While a master is away, an operator is refused.
  const disturbed: { revocations: Spread[]; catalogues: Spread[] } = {
    ...{ revocations: [], catalogues: [] },
  };
  const hasHeard = () => Object.values(disturbed).every(hasDelays);
  const restarting = (async () => {
    let restarted = await processes.restartAll();
    for (let n = 1; n < RESTARTS_MAX && !hasHeard(); n++) restarted += await processes.restartAll();
    return restarted;
  })();
  const killing = (async () => {
    await audit.pause();
    const fromMs = Date.now();
    await cluster.failOver();
    const untilMs = Date.now();
    audit.resume();
    return { fromMs, untilMs };
  })();
  const done = Promise.all([restarting, killing]).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await meter.revoke().then(
      (spread) => disturbed.revocations.push(spread),
      () => sleep(500),
    );
    await meter.changeCatalogue().then(
      (spread) => disturbed.catalogues.push(spread),
      () => sleep(500),
    );
  }
  const [restarted, failover] = await done;
  return { failover, disturbed, restarted };
}

const hasDelays = (spreads: readonly Spread[]) =>
  spreads.some(({ delaysMs }) => delaysMs.length > 0);

function reportMissing(
  figures: readonly ChangeFigures[],
  report: (check: string, text: string) => void,
): void {
  for (const { revocations, catalogues } of figures) {
    for (const { missing } of revocations) {
      if (missing.length > 0) report('revocation', `${missing.join(', ')} went on`);
    }
    for (const { missing } of catalogues) {
      if (missing.length > 0) report('catalogue', `${missing.join(', ')} did not take it`);
    }
  }
}

function findOutage(
  events: readonly ProofEvent[],
  world: readonly FleetAccount[],
  buckets: ReadonlySet<number>,
): number {
  const own = new Set(
    world.flatMap(({ bucket, keys }) =>
      buckets.has(bucket) ? keys.map(({ keyId }) => keyId) : [],
    ),
  );
  const times = events
    .flatMap((event) =>
      event.type === 'admitted' && own.has(event.keyId) ? [event.repliedMs] : [],
    )
    .sort((a, b) => a - b);
  return times.reduce((most, time, n) => Math.max(most, time - (times[n - 1] ?? time)), 0);
}

function shareOfFirst(events: readonly ProofEvent[], world: readonly FleetAccount[]): number {
  const first = new Set(world[0]?.keys.map(({ keyId }) => keyId));
  const all = new Set(world.flatMap(({ keys }) => keys.map(({ keyId }) => keyId)));
  const admitted = events.filter((event) => event.type === 'admitted' && all.has(event.keyId));
  const own = admitted.filter((event) => event.type === 'admitted' && first.has(event.keyId));
  return own.length / Math.max(1, admitted.length);
}

function sumUp(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, count] of counts.flatMap((each) => Object.entries(each))) {
    sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
