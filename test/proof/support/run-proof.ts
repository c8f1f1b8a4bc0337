import { setTimeout as sleep } from 'node:timers/promises';
import type { PlanLimits } from '../../../src/protocol/admission.ts';
import { sweep } from '../../../src/quota/scripts/sweep.ts';
import { connectRedis, type RedisConnection } from '../../../src/redis/connect-redis.ts';
import { DEFAULT_WARNINGS } from '../../support/limits/default-warnings.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { CLOCK_KEY, type Patch, patchScripts, STEPPED_CLOCK } from '../../support/patch-scripts.ts';
import { standalone, tcp, waitForRedis } from '../../support/servers/redis-connection.ts';
import { startRedisServer } from '../../support/servers/start-redis-server.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { checkCounted } from '../checks/check-counted.ts';
import { checkEnd } from '../checks/check-end.ts';
import { checkLists } from '../checks/check-lists.ts';
import { checkRates } from '../checks/check-rates.ts';
import { checkShut } from '../checks/check-shut.ts';
import { checkSnapshot } from '../checks/check-snapshot.ts';
import { checkViews } from '../checks/check-views.ts';
import { createViolations, type Report, type Violation } from '../checks/violations.ts';
import { type Book, createBook } from './book.ts';
import { type Counts, countEvents } from './count-events.ts';
import { createWorkers, WORKERS, type Workers } from './create-workers.ts';
import { createDisturbances, type Disturbances } from './disturb.ts';
import type { ProofEvent } from './event-log.ts';
import { isMachineTrouble } from './is-machine-trouble.ts';
import { planClock } from './plan-clock.ts';
import { PROFILES, type Profile, type ProfileName } from './profiles.ts';
import { createRandom, type Random } from './random.ts';
import { type LimitSubject, takeSnapshot } from './snapshot.ts';
import { BUCKETS_USED, type ProofAccount, writeWorld } from './world.ts';

const COMMAND_TIMEOUT_MS = 20_000;
const TICK_MAX_MS = 12;
const SWEPT_MAX = 50;
/** Of a second that was asked for: a busy machine takes longer for them. */
const TICKS_MIN = 60;
const KILL_INTERVAL_S = 1.5;
/** Leases are much shorter; this only ends a run that would hang. */
const EXPIRY_TIME_MAX_MS = 30_000;
const NOTHING_CHECKED = { fullLimiters: 0, limitsChecked: 0, limitsFull: 0 };

interface ProofOptions {
  readonly profile: ProfileName;
  readonly seconds: number;
  readonly seed: number;
  /** Bugs that the proof must find. */
  readonly patches: readonly Patch[];
}

export interface ProofResult extends Counts {
  readonly profile: ProfileName;
  readonly seed: number;
  readonly kills: number;
  readonly snapshots: number;
  readonly months: number;
  readonly lostHolds: number;
  readonly fullLimiters: number;
  /** How many limits of lists were checked when all was over, and how many of them were ever full. */
  readonly limitsChecked: number;
  readonly limitsFull: number;
  readonly violations: readonly Violation[];
}

interface Run {
  readonly plans: PlanLimits;
  /** The lists of limits at the end. */
  readonly subjects: LimitSubject[];
  readonly connection: Pick<RedisConnection, 'send'>;
  readonly profile: Profile;
  readonly world: readonly ProofAccount[];
  readonly random: Random;
  readonly report: Report;
  readonly violations: readonly Violation[];
  readonly book: Book;
  readonly disturbances: Disturbances;
  readonly workers: Workers;
  /** Positions in the ledger, by bucket. */
  readonly cursors: Map<number, string>;
  kills: number;
  snapshots: number;
}

/**
 * Stops at the first violation, since later ones may only follow from the same bug. Throws if it
 * found none and could not go on.
 */
export async function runProof(options: ProofOptions): Promise<ProofResult> {
  const { seed, seconds } = options;
  const profile: Profile = PROFILES[options.profile];
  const random = createRandom(seed);
  const plans = profile.createPlans(random);
  const world = profile.createWorld(random);
  const patches = [STEPPED_CLOCK, ...options.patches];
  const server = await startRedisServer();
  const redis = connectRedis({
    target: standalone(tcp(server.port)),
    name: 'proof',
    commandTimeoutMs: COMMAND_TIMEOUT_MS,
    log: createMemoryLog(),
  });
  const connection = patchScripts(redis, patches);
  await waitForRedis(redis);
  const { list: violations, report } = createViolations();
  const { port, dir } = server;
  const order = { profile: options.profile, port, dir, seed, patches, plans, world };
  const run: Run = {
    ...{ connection, profile, plans, world, random, report, violations, subjects: [] },
    workers: createWorkers(order),
    book: createBook(report),
    disturbances: createDisturbances({ connection, world, random, report }),
    cursors: new Map(),
    ...{ kills: 0, snapshots: 0 },
  };
  let trouble: unknown;
  try {
    await writeWorld(connection, world);
    run.workers.start();
    await waitForClients(run);
    await disturbFor(run, seconds);
    await finish(run);
  } catch (error) {
    if (isMachineTrouble(String(error))) trouble = error;
    else report('a script fails', String(error));
  }
  await run.workers.kill();
  const events = run.workers.readEvents();
  for (const event of events) if (event.type === 'violation') report(event.check, event.text);
  const isOver = trouble !== undefined || violations.length > 0;
  const counted = isOver ? NOTHING_CHECKED : checkEvents(run, events);
  await redis.close();
  await server.stop();
  if (trouble !== undefined && violations.length === 0) throw trouble;
  return {
    ...{ profile: options.profile, seed, kills: run.kills, snapshots: run.snapshots },
    ...{ months: run.book.months.size, lostHolds: run.disturbances.lost.size },
    ...counted,
    ...countEvents(events),
    violations,
  };
}

async function waitForClients(run: Run): Promise<void> {
  await waitUntil(async () => {
    const snapshots = await Promise.all(BUCKETS_USED.map((bucket) => look(run, bucket)));
    return snapshots.every(({ holds }) => holds.size > 0) || run.violations.length > 0;
  }, 'clients are let in');
}

async function disturbFor(run: Run, seconds: number): Promise<void> {
  const { connection, profile, random, violations, disturbances, workers } = run;
  const startedMs = performance.now();
  const aheadOf = profile.isChaotic ? planClock(seconds, Date.now()) : () => 0;
  let aheadMs = 0;
  for (let ticks = 0; ; ticks += 1) {
    const share = Math.min(1, (performance.now() - startedMs) / (seconds * 1_000));
    const isOver = share === 1 && ticks >= seconds * TICKS_MIN;
    if (isOver || violations.length > 0) return;
    await sleep(random.int(1, TICK_MAX_MS));
    await look(run, random.pick(BUCKETS_USED));
    if (!profile.isChaotic) continue;
    if (aheadOf(share) !== aheadMs) {
      aheadMs = aheadOf(share);
      await connection.send('set', [CLOCK_KEY, String(aheadMs)]);
    }
    const disturb = random.pick(Object.values(disturbances.actions));
    await Promise.all([disturb(), sweepAll(run)]);
    if (run.kills < Math.floor((share * seconds) / KILL_INTERVAL_S)) {
      run.kills += 1;
      workers.replace(random.int(0, WORKERS - 1));
    }
  }
}

/** Sweeps each bucket twice at once, as two nodes do. */
async function sweepAll({ connection }: Run): Promise<void> {
  const all = [...BUCKETS_USED, ...BUCKETS_USED];
  await Promise.all(all.map((bucket) => sweep(connection, bucket, SWEPT_MAX, DEFAULT_WARNINGS)));
}

async function look(run: Run, bucket: number) {
  const { connection, world, book, cursors, disturbances, report } = run;
  const snapshot = await takeSnapshot(connection, bucket, cursors.get(bucket) ?? '0-0');
  cursors.set(bucket, snapshot.cursor);
  run.snapshots += 1;
  for (const entry of snapshot.ledger) book.add(entry);
  const { capMaxOf, limitMaxOf } = disturbances;
  checkSnapshot(snapshot, { world, book, report, capMaxOf });
  checkLists(snapshot, { world, report, limitMaxOf });
  return snapshot;
}

/** Lets the workers finish their open requests, and all leases expire. */
async function finish(run: Run): Promise<void> {
  const { workers, world, report, violations } = run;
  if (violations.length > 0) return;
  await workers.stop();
  const deadline = performance.now() + EXPIRY_TIME_MAX_MS;
  for (const bucket of BUCKETS_USED) {
    let snapshot = await look(run, bucket);
    while (snapshot.holds.size + snapshot.leases.length > 0 && performance.now() < deadline) {
      await sleep(20);
      await sweepAll(run);
      snapshot = await look(run, bucket);
    }
    checkEnd(snapshot, world, report);
    run.subjects.push(...snapshot.subjects);
  }
}

/** Checks what only the clients know. Returns how many limits were ever full. */
function checkEvents(run: Run, events: readonly ProofEvent[]) {
  const { profile, world, book, disturbances, workers, report } = run;
  const { lost, payments, shut } = disturbances;
  const isUnheard = (requestId: string) => workers.wasKilled(requestId.slice(10, 14));
  checkViews(events, { book, lost, isUnheard, report });
  for (const [id, micros] of payments) {
    const entered = -(book.payments.get(id)?.charged ?? 0);
    if (entered !== micros) report('I6', `payment ${id}: ${entered} entered of ${micros}`);
  }
  checkShut(events, { shut, world, report });
  const { plans, subjects } = run;
  const { limitMaxOf } = disturbances;
  const limits = checkCounted(events, { subjects, world, plans, book, report, limitMaxOf });
  if (profile.isChaotic) return { ...NOTHING_CHECKED, ...limits };
  const { windowMs } = profile;
  return { ...limits, fullLimiters: checkRates(events, { world, plans, windowMs, report }) };
}
