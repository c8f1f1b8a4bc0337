import type { Driver } from 'kysely';
import { createRequestIdMint } from '../../src/lib/request-id.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { findProblems } from './find-problems.ts';
import { keepBooks, type SimulatedBooks } from './keep-books.ts';
import { createSimulatedDisk, type SimulatedDisk } from './simulated-disk.ts';
import { type SimulatedNode, startSimulatedNode } from './simulated-node.ts';
import { createSimulatedStore, LEASE_MS, type SimulatedStore } from './simulated-store.ts';
import { createSimulatedTime, type SimulatedTime, useSimulatedTime } from './simulated-time.ts';

const MINUTE_MS = 60_000;
const SWEEP_MS = 2_000;
const ACCOUNTS = ['a', 'b', 'c'];

export interface World {
  readonly time: SimulatedTime;
  readonly store: SimulatedStore;
  readonly disk: SimulatedDisk;
  readonly node: SimulatedNode;
  readonly settlements: Settlement[];
  /** Undefined where nobody keeps books. */
  readonly books: SimulatedBooks | undefined;
}

export interface ScheduleReport {
  readonly requests: number;
  /** How often somebody looked at a month that was closed. */
  readonly closedMonths: number;
  readonly faults: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Lets a node settle requests while a random schedule of faults goes on, then waits until all is
 * well, and looks at what was charged. With an engine, a fleet keeps books of it. The same seed runs
 * the same schedule.
 */
export async function runSchedule(seed: number, engine?: Driver): Promise<ScheduleReport> {
  const time = createSimulatedTime(seed);
  const { release } = useSimulatedTime(time);
  try {
    const { random } = time;
    const disk = createSimulatedDisk();
    const store = createSimulatedStore(time);
    const node = startSimulatedNode({ time, store, disk });
    const books = engine && (await keepBooks({ time, store, engine }));
    const world: World = { time, store, disk, node, settlements: [], books };
    const lengthMs = random.int(5, 90) * 1_000;
    sweepFrom(world);
    askForRequests(world, lengthMs);
    const faults: string[] = [];
    for (let count = random.int(0, 6); count > 0; count--) {
      planFault(world, random.next() * lengthMs, faults);
    }
    const problems: string[] = [];
    try {
      await time.runUntil(time.nowMs() + lengthMs);
      heal(world);
      await settleDown(world);
    } catch (error) {
      problems.push(String(error));
    }
    problems.push(...(await findProblems(world)));
    const closedMonths = books?.months.found() ?? 0;
    return { requests: world.settlements.length, closedMonths, faults, problems };
  } finally {
    release();
  }
}

function sweepFrom({ time, store }: World): void {
  const sweep = () => {
    if (!store.isAway) store.sweep();
    time.happenLater(SWEEP_MS, sweep);
  };
  time.happenLater(SWEEP_MS, sweep);
}

function askForRequests({ time, store, node, settlements }: World, lengthMs: number): void {
  const { random } = time;
  const mint = createRequestIdMint(random.bytes);
  for (let count = random.int(5, 80); count > 0; count--) {
    const accountId = random.pick(ACCOUNTS);
    const actualMicros = random.chance(0.1) ? 0 : random.int(1, 1_000);
    time.happenLater(random.next() * lengthMs, () => {
      if (store.isAway) return;
      const requestId = mint(time.nowMs());
      store.hold({ requestId, accountId, seenMicros: random.int(0, actualMicros) });
      const durationMs = random.chance(0.05) ? LEASE_MS + 5_000 : random.next() * 3_000;
      const worker = random.pick(node.workers);
      time.happenLater(durationMs, () => {
        if (!worker.process.isAlive) return;
        const settlement = {
          ...{ bucket: 7, accountId, keyId: 'k', requestId, month: '202611', model: 'llm-a' },
          ...{ extras: '', actualMicros, lastKnownMs: time.nowMs(), usage: Buffer.alloc(0) },
        };
        settlements.push(settlement);
        worker.added.push(settlement);
        time.inProcess(worker.process, () => worker.queue.add(settlement));
      });
    });
  }
}

type Fault = (world: World) => void;

const FAULTS: Readonly<Record<string, Fault>> = {
  outage: (world) => letBeAway(world, world.time.random.int(200, 90_000), false),
  longOutage: (world) => letBeAway(world, world.time.random.int(20, 150) * MINUTE_MS, false),
  failover: (world) => letBeAway(world, world.time.random.int(0, 15_000), true),
  lateFailover: (world) => letBeAway(world, world.time.random.int(1, 20) * MINUTE_MS, true),
  lossyLine({ time, store }) {
    store.lostShare = time.random.next() * 0.6;
    time.happenLater(time.random.int(100, 20_000), () => {
      store.lostShare = 0;
    });
  },
  deadWorker: ({ time, node }) => node.killWorker(time.random.int(0, node.workers.length - 1)),
  deadPrimary: ({ node }) => node.killPrimary(false),
  powerCut: ({ node }) => node.killPrimary(true),
  frozenPrimary: ({ time, node }) => node.freeze(time.random.int(100, 20_000)),
  fullDisk({ time, disk, node }) {
    const durationMs = time.random.int(100, 30_000);
    node.noteTrouble(durationMs);
    disk.isFull = true;
    time.happenLater(durationMs, () => {
      disk.isFull = false;
    });
  },
  slowDisk({ time, disk, node }) {
    const durationMs = time.random.int(100, 30_000);
    node.noteTrouble(durationMs);
    disk.delayMaxMs = time.random.int(10, 800);
    time.happenLater(durationMs, () => {
      disk.delayMaxMs = 3;
    });
  },
};

const FAULTS_OF_BOOKS: Readonly<Record<string, (world: World, books: SimulatedBooks) => void>> = {
  deadIngester: ({ time }, { kill }) => kill(time.random.int(0, 1)),
  frozenIngester: ({ time }, { freeze }) =>
    freeze(time.random.int(0, 1), time.random.int(100, 60_000)),
  databaseAway({ time }, { database }) {
    database.isAway = true;
    time.happenLater(time.random.int(100, 60_000), () => {
      database.isAway = false;
    });
  },
  slowDatabase({ time }, { database }) {
    database.delayMaxMs = time.random.int(10, 1_000);
    time.happenLater(time.random.int(100, 60_000), () => {
      database.delayMaxMs = 2;
    });
  },
  lossyDatabase({ time }, { database }) {
    database.lostShare = time.random.next();
    time.happenLater(time.random.int(100, 60_000), () => {
      database.lostShare = 0;
    });
  },
};

function letBeAway({ time, store }: World, durationMs: number, isFailover: boolean): void {
  const LAG_MAX_MS = 10_000;
  store.isAway = true;
  if (isFailover) store.failOver(LAG_MAX_MS);
  time.happenLater(durationMs, () => {
    store.isAway = false;
  });
}

function planFault(world: World, delayMs: number, told: string[]): void {
  const { books } = world;
  const names = [...Object.keys(FAULTS), ...(books ? Object.keys(FAULTS_OF_BOOKS) : [])];
  const name = world.time.random.pick(names);
  world.time.happenLater(delayMs, () => {
    told.push(name);
    FAULTS[name]?.(world);
    if (books !== undefined) FAULTS_OF_BOOKS[name]?.(world, books);
  });
}

function heal({ store, disk, books }: World): void {
  store.isAway = false;
  store.lostShare = 0;
  disk.isFull = false;
  disk.delayMaxMs = 3;
  if (books !== undefined)
    Object.assign(books.database, { isAway: false, delayMaxMs: 2, lostShare: 0 });
}

async function settleDown({ time, store, node, books }: World): Promise<void> {
  const TRIES_MAX = 20;
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    await time.runUntil(time.nowMs() + MINUTE_MS);
    if (node.depth() > 0 || store.openHolds() > 0) continue;
    if (books === undefined) return;
    await time.runUntil(time.nowMs() + MINUTE_MS);
    if (books.isCaughtUp()) return;
  }
}
