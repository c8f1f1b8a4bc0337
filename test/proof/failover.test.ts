import { afterEach, describe, expect, it } from 'vitest';
import { sweep } from '../../src/quota/scripts/sweep.ts';
import type { Settlement } from '../../src/quota/settlement/settlement.ts';
import { DEFAULT_WARNINGS } from '../support/limits/default-warnings.ts';
import {
  closeConnections,
  openConnection,
  type TestConnection,
  waitForRedis,
} from '../support/servers/redis-connection.ts';
import { stopRedisServers } from '../support/servers/start-redis-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { checkCounted } from './checks/check-counted.ts';
import { checkEnd } from './checks/check-end.ts';
import { checkLists } from './checks/check-lists.ts';
import { checkSnapshot } from './checks/check-snapshot.ts';
import { createViolations, type Report } from './checks/violations.ts';
import { createBook } from './support/book.ts';
import type { ProofEvent } from './support/event-log.ts';
import { createRandom } from './support/random.ts';
import { type LimitSubject, type Snapshot, takeSnapshot } from './support/snapshot.ts';
import { startCluster } from './support/start-cluster.ts';
import { startFailoverLoad } from './support/start-failover-load.ts';
import { cutReplication, type FailoverSite, startSentinels } from './support/start-sentinels.ts';
import { createFailoverWorld, type ProofAccount, writeWorld } from './support/world.ts';

afterEach(async () => {
  await closeConnections();
  await stopRedisServers();
});

/** See `connect-sentinel.long.test.ts`: on a loaded machine an election can take this long. */
const FAILOVER_TIMEOUT_MS = 150_000;
const TEST_TIMEOUT_MS = 240_000;
/** A seed repeats the choices of a run, but not its timing. */
const SEED = Number(process.env['PROOF_SEED'] ?? Date.now() % 1_000_000);
/**
 * Settlements before replication is cut, and after the cut. If the cut lasts too long, Sentinel
 * finds no suitable replica.
 */
const SETTLED_MIN = 100;
const SETTLED_UNSEEN_MIN = 40;

const SITES: readonly (readonly [name: string, start: () => Promise<FailoverSite>])[] = [
  ['Sentinel', startSentinels],
  ['Cluster', startCluster],
];

/**
 * Kills the master while clients are served. By then it has acknowledged writes that no replica
 * knows. The test proves something only if writes are lost, so this waits until some would be.
 */
async function failOver(site: FailoverSite, world: readonly ProofAccount[]) {
  const load = startFailoverLoad(site.target, world);
  const settleMore = async (count: number) => {
    const before = load.settledCount();
    await waitUntil(() => load.settledCount() >= before + count, 'more is settled');
  };
  await settleMore(SETTLED_MIN);
  await cutReplication(site.master);
  await settleMore(SETTLED_UNSEEN_MIN);
  const before = world.map(({ bucket }) => load.admittedCount(bucket));
  await site.killMaster();
  await waitUntil(
    () => world.every(({ bucket }, n) => load.admittedCount(bucket) > (before[n] ?? 0) + 10),
    'every bucket is served again',
    FAILOVER_TIMEOUT_MS,
  );
  await waitUntil(
    () => load.restoredCount() > 0,
    'what was lost is sent again',
    FAILOVER_TIMEOUT_MS,
  );
  // A new master may be replaced by another while the Sentinels do not agree yet.
  const isOver = () => site.isFailedOver().catch(() => false);
  await waitUntil(isOver, 'the failover is over', FAILOVER_TIMEOUT_MS);
  const looks = load.sameCount();
  await waitUntil(() => load.sameCount() > looks + 1, 'the last change of masters was seen');
  await load.stop();
  return load;
}

/**
 * Every settlement is in the ledger once, with its whole cost, and the ledger charges nothing else.
 */
function checkSettled(
  book: ReturnType<typeof createBook>,
  settlements: readonly Settlement[],
  report: Report,
): void {
  const asked = new Set(settlements.map(({ requestId }) => requestId));
  for (const { requestId, actualMicros } of settlements) {
    const entries = book.requests.get(requestId) ?? [];
    const charged = entries.reduce((sum, entry) => sum + entry.charged, 0);
    if (entries.length === 0) report('lost', requestId);
    else if (charged !== actualMicros) report('charged', JSON.stringify({ actualMicros, entries }));
  }
  for (const [requestId, entries] of book.requests) {
    const isNothing = entries.every(({ charged }) => charged === 0);
    if (!asked.has(requestId) && !isNothing) report('charged', JSON.stringify(entries));
  }
}

/**
 * The state of a bucket once all its leases have ended. This connection also lost its master, and
 * loses the new one once more if news of the change reaches it late.
 */
async function takeQuietSnapshot(connection: TestConnection, bucket: number): Promise<Snapshot> {
  let quiet: Snapshot | undefined;
  const look = async () => {
    await sweep(connection, bucket, 1_000, DEFAULT_WARNINGS);
    const snapshot = await takeSnapshot(connection, bucket, '0-0');
    if (snapshot.holds.size + snapshot.leases.length === 0) quiet = snapshot;
    return quiet !== undefined;
  };
  await waitUntil(() => look().catch(() => false), 'all leases have ended');
  if (quiet === undefined) throw new Error('no snapshot was quiet');
  return quiet;
}

/**
 * Checks I1 to I6, I9 and lists of limits on the remaining state. Requests whose admission reached
 * no client expire first.
 */
async function findViolations(
  connection: TestConnection,
  world: readonly ProofAccount[],
  settlements: readonly Settlement[],
  events: readonly ProofEvent[],
) {
  const { list, report } = createViolations();
  const book = createBook(report);
  const subjects: LimitSubject[] = [];
  const limitMaxOf = () => undefined;
  for (const { bucket } of world) {
    const snapshot = await takeQuietSnapshot(connection, bucket);
    for (const entry of snapshot.ledger) book.add(entry);
    checkSnapshot(snapshot, { world, book, report, capMaxOf: () => undefined });
    checkLists(snapshot, { world, report, limitMaxOf });
    checkEnd(snapshot, world, report);
    subjects.push(...snapshot.subjects);
  }
  checkSettled(book, settlements, report);
  const counted = checkCounted(events, {
    ...{ subjects, world, plans: {}, book, report, limitMaxOf },
  });
  return { violations: list, ...counted };
}

describe.each(SITES)('when a master of %s dies under load', (name, start) => {
  it(
    `no settlement is lost and none is charged twice (seed ${SEED})`,
    async () => {
      const site = await start();
      const connection = openConnection(site.target);
      await waitForRedis(connection);
      const world = createFailoverWorld(createRandom(SEED));
      await writeWorld(connection, world);
      const load = await failOver(site, world);
      const found = await findViolations(connection, world, load.asked, load.events);
      const { violations, limitsChecked } = found;
      const outages = world.map(({ bucket }) => load.outageMs(bucket));
      const figures = {
        ...{ failover: name, settled: load.asked.length, restored: load.restoredCount() },
        ...{ refused: load.refusedCount(), outageMs: outages, violations: violations.length },
        limitsChecked,
      };
      console.log(JSON.stringify(figures));
      if (violations.length > 0) console.log(JSON.stringify(load.log));
      expect(violations).toEqual([]);
      // Of each account the key, the group, two end users and itself, each with 15 limits.
      expect(limitsChecked).toBeGreaterThanOrEqual(world.length * 4 * 15);
    },
    TEST_TIMEOUT_MS,
  );
});
