import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditLog, createAuditLog } from '../accounts/audit/audit-log.ts';
import { type CountReplicas, createCountReplicas } from '../accounts/count-replicas.ts';
import { createDirectory, type Directory } from '../accounts/directory.ts';
import { createBooksDesk } from '../bookkeeping/create-books-desk.ts';
import { type BooksThreads, startBooksThreads } from '../bookkeeping/start-books-threads.ts';
import type { UpstreamCosts } from '../bookkeeping/thread-messages.ts';
import { booksTargetOf } from '../config/books-target-of.ts';
import type { Config } from '../config/config.ts';
import type { ConfigSource } from '../config/source/read-config-source.ts';
import type { LimitEventsDesk } from '../events/limit-events-desk.ts';
import { digestKey } from '../keys/digest-key.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import { DATA_FILES } from '../lib/data-files.ts';
import type { Log } from '../lib/log.ts';
import { packSecrets } from '../lib/pack-secrets.ts';
import type { Clock } from '../lib/time/clock.ts';
import { createMasterClock } from '../lib/time/master-clock.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { DAY_MS } from '../lib/units/time-units.ts';
import type { MastersNews } from '../messages/worker-messages.ts';
import { countFaults, createObserveSettled } from '../metrics/observe-billing.ts';
import { createObserveCommand } from '../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import type { BooksDesk } from '../ops/books-desk.ts';
import type { PublishEvent } from '../ops/event-hub.ts';
import { openSettleJournal, type SettleJournal } from '../quota/journal/settle-journal.ts';
import { settle } from '../quota/scripts/settle.ts';
import { type SweepReply, sweep } from '../quota/scripts/sweep.ts';
import type { Settlement } from '../quota/settlement/settlement.ts';
import { findBusyBuckets } from '../quota/sweeping/find-busy-buckets.ts';
import { leaveSweeps, shareSweeps } from '../quota/sweeping/share-sweeps.ts';
import { type Sweeper, startSweeper } from '../quota/sweeping/sweep-buckets.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { findRedisTrouble } from '../redis/probe-redis.ts';
import { createReasonLog } from '../redis/reason-log.ts';
import { waitForConnection } from '../redis/wait-for-connection.ts';
import { watchMasters } from '../redis/watch-masters.ts';
import { type MemoryWatch, watchMemory } from '../redis/watch-memory.ts';
import { type NodeLimitEvents, startLimitEvents } from './limit-events/start-limit-events.ts';
import { type OperatorAccess, openOperatorAccess } from './open-operator-access.ts';
import { startArchiver } from './start-archiver.ts';
import { watchBooks } from './watch-books.ts';

const COMMAND_TIMEOUT_MS = 1_000;
/** How long a node that ends may wait for the store. What is left stays on the disk. */
const JOURNAL_DRAIN_MAX_MS = 2_000;
/**
 * A new master may refuse writes at first. Recent writes are then repeated once a second, for as
 * long as they are kept.
 */
const REPEAT_ATTEMPTS_MAX = 600;
const REPEAT_DELAY_MS = 1_000;
const REPEAT_FAILED = 'changes of accounts could not be repeated after a failover';
const CONNECT_TIME_MAX_MS = 10_000;

/** Where archives go, as people read it. */
function nameArchive({ archive }: Config['books']): string | null {
  if (archive === undefined) return null;
  if (archive.kind === 'folder') return archive.folder;
  return `s3://${archive.bucket}/${archive.prefix}`;
}

/** What vendors charge, as a thread takes it. */
export function costsOf({ upstreams }: Config): UpstreamCosts {
  return upstreams.map(({ name, costs }) => ({ name, costs }));
}

export interface AccountingOptions {
  readonly target: RedisTarget;
  /** The id of this node. */
  readonly node: string;
  readonly config: Config;
  /** The settings in use, which a reload changes. */
  readonly configInUse: () => Config;
  /** The source of the same settings, for the processes that a node starts. */
  readonly sourceInUse: () => ConfigSource;
  readonly publish: PublishEvent;
  readonly metrics: ProcessMetrics;
  /** Sends the news to the workers, which do not watch the masters themselves. */
  readonly announceMasters: (news: MastersNews) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Accounting {
  readonly directory: Directory;
  readonly access: OperatorAccess;
  /** For changes by operators. */
  readonly connection: RedisConnection;
  readonly countReplicas: CountReplicas;
  readonly audit: AuditLog;
  readonly desk: BooksDesk;
  readonly limitEvents: LimitEventsDesk;
  readonly threads: Pick<BooksThreads, 'report' | 'noteRefusals' | 'changeCosts'>;
  readonly sweeper: Pick<Sweeper, 'bucketCount'>;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** Resolves when accounts can be written, or when the time is up. */
  waitForStore(): Promise<void>;
  /** Why the store takes nothing now; undefined if it does. */
  findStoreTrouble(): Promise<string | undefined>;
  /** To be called when no worker is left. */
  close(): Promise<void>;
}

function startThreads({ target, node, config, log }: AccountingOptions) {
  const books = booksTargetOf(config);
  const { logLevel } = config;
  const { archive, keepMs } = config.books;
  const order = {
    ...{ redis: packSecrets(target), books, nodeId: node, logLevel, costs: costsOf(config) },
    run: `${node} ${randomUUID()}`,
    refusalsKeptMs: archive === undefined ? keepMs : undefined,
  };
  const threads = startBooksThreads(order, log);
  const desk = createBooksDesk(threads.questions, () => ({
    keepDays: Math.floor(config.books.keepMs / DAY_MS),
    archive: nameArchive(config.books),
  }));
  return { threads, desk };
}

/**
 * A node's part in accounts and credits: the work that is done once per node, not by every worker.
 */
export async function startAccounting(options: AccountingOptions): Promise<Accounting> {
  const { config, metrics, clock, log } = options;
  const { dataDir, ops } = config;
  const store = connectStore(options);
  const { connection, directoryConnection, countReplicas, findStoreTrouble } = store;
  const { threads, desk } = startThreads(options);
  const warnings = () => options.configInUse().warnings;
  const events = startLimitEvents(connection, options);

  const journal = await openSettleJournal({
    dir: join(dataDir, DATA_FILES.journal),
    settle: countFaults(metrics, (settlement: Settlement) =>
      settle(connection, settlement, warnings()),
    ),
    findCharged: desk.findCharged,
    onSettled: createObserveSettled(metrics),
    ...{ clock, random: Math.random, log },
  });
  const sweeper = sweepWithOthers(connection, events, options);
  const memory = watchMemory(connection);
  watchStore(metrics, { journal, memory });
  watchBooks(metrics, { threads, books: config.books, clock });
  const archiver = startArchiver(threads, options);
  const masterClock = createMasterClock(clock);
  const directory = createDirectory({
    ...{ connection: directoryConnection, countReplicas, randomBytes, digestKey },
    ...{ clock, masterClock, warnings },
  });
  const access = openOperatorAccess({ connection, oidc: ops.oidc, clock, masterClock });
  const audit = createAuditLog({ connection, randomBytes, clock, masterClock, log });
  const masters = watchMasters({
    ...{ connection, log },
    onChange() {
      journal.replay();
      events.noteMasterChange();
      options.announceMasters({ kind: 'changed' });
      threads.noteMasterChange();
      void repeatWrites({ directory, access, audit }, log);
    },
    onSame(elapsedMs) {
      masterClock.noteSame(elapsedMs);
      journal.noteSame(elapsedMs);
      events.noteSame(elapsedMs);
      options.announceMasters({ kind: 'same', elapsedMs });
    },
  });

  return {
    ...{ directory, access },
    connection: directoryConnection,
    ...{ countReplicas, audit, desk, threads, sweeper, limitEvents: events.desk },
    journal: (settlements) => journal.append(settlements),
    waitForStore: () => waitForConnection(directoryConnection, CONNECT_TIME_MAX_MS),
    findStoreTrouble,
    async close() {
      masters.stop();
      memory.stop();
      await Promise.all([sweeper.stop(), events.stop()]);
      const left = await journal.drain(JOURNAL_DRAIN_MAX_MS);
      if (left > 0) log.warn({ left }, 'settlements stay in the journal until the next start');
      await journal.close();
      await Promise.all([archiver.stop(), threads.stop()]);
      await audit.close();
      await store.close();
    },
  };
}

function connectStore({ target, metrics, log }: AccountingOptions) {
  const reasons = createReasonLog(log);
  const plain = { target, commandTimeoutMs: COMMAND_TIMEOUT_MS, log: reasons };
  const connect = (name: string, label: 'primary' | 'accounts') =>
    connectRedis({ ...plain, name, onCommand: createObserveCommand(metrics, label) });
  const connection = connect('primary', 'primary');
  const directoryConnection = connect('primary-accounts', 'accounts');
  const replicas = connectRedis({ ...plain, name: 'primary-replicas' });
  return {
    ...{ connection, directoryConnection, countReplicas: createCountReplicas(replicas) },
    findStoreTrouble: () => findRedisTrouble(connection, reasons, 0),
    async close() {
      await Promise.all([connection, directoryConnection, replicas].map((each) => each.close()));
    },
  };
}

function sweepWithOthers(
  connection: RedisConnection,
  events: Pick<NodeLimitEvents, 'collect'>,
  { node, configInUse, metrics, log }: AccountingOptions,
): Sweeper {
  const sweeper = startSweeper({
    learnShare: () => shareSweeps(connection, node),
    leave: () => leaveSweeps(connection, node),
    findBusy: (buckets) => findBusyBuckets(connection, buckets),
    sweep: (bucket, countMax) => sweep(connection, bucket, countMax, configInUse().warnings),
    onEvents: events.collect,
    onSwept: createObserveSwept(metrics),
    random: Math.random,
    log,
  });
  metrics.sweepBuckets.watch((set) => set({}, sweeper.bucketCount()));
  return sweeper;
}

function createObserveSwept(metrics: ProcessMetrics): (reply: SweepReply) => void {
  return ({ swept, chargedMicros }) => {
    metrics.holdsSwept.at({}).add(swept);
    metrics.creditsSwept.at({}).add(creditsOf(chargedMicros));
  };
}

interface WatchedStore {
  readonly journal: Pick<SettleJournal, 'depth' | 'unsettledBytes'>;
  readonly memory: Pick<MemoryWatch, 'usedShare'>;
}

function watchStore(metrics: ProcessMetrics, { journal, memory }: WatchedStore): void {
  metrics.redisMemoryUsed.watch((set) => {
    const share = memory.usedShare();
    if (share !== undefined) set({}, share);
  });
  metrics.settleJournalDepth.watch((set) => set({}, journal.depth));
  metrics.unsettledSize.watch((set) => set({}, journal.unsettledBytes()));
}

async function repeatWrites(
  { directory, access, audit }: Pick<Accounting, 'directory' | 'access' | 'audit'>,
  log: Log,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      // All at once, since accounts may wait for other nodes.
      const faults = await Promise.all([
        directory.replayRecentWrites(),
        access.operators.replayRecentWrites(),
        access.sessions.replayRecentWrites(),
        audit.replayRecentEntries(),
      ]);
      for (const err of faults.flat()) log.error({ err }, REPEAT_FAILED);
      return;
    } catch (error) {
      if (attempt === 1) log.warn({ err: error }, 'changes of accounts are repeated later');
      if (attempt === REPEAT_ATTEMPTS_MAX) {
        log.error({ err: error }, REPEAT_FAILED);
        return;
      }
      await sleep(REPEAT_DELAY_MS, undefined, { ref: false });
    }
  }
}
