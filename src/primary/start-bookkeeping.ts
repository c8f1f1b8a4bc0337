import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditLog, createAuditLog } from '../accounts/audit/audit-log.ts';
import { createDirectory, type Directory } from '../accounts/directory.ts';
import { loadNodeId } from '../data-dir/load-node-id.ts';
import { digestKey } from '../keys/digest-key.ts';
import { createFindCharged } from '../ledger/create-find-charged.ts';
import { createLedgerDesk, type LedgerDesk } from '../ledger/create-ledger-desk.ts';
import { type LedgerExporter, startLedgerExporter } from '../ledger/start-ledger-exporter.ts';
import { readVerifyResult } from '../ledger/verify-result.ts';
import type { RedisTarget } from '../lib/address/redis-target.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { countFaults, createObserveSettled } from '../metrics/observe-billing.ts';
import { createObserveCommand } from '../metrics/observe-redis.ts';
import type { ProcessMetrics } from '../metrics/process-metrics.ts';
import { openSettleJournal, type SettleJournal } from '../quota/journal/settle-journal.ts';
import { settle } from '../quota/scripts/settle.ts';
import { type SweepReply, sweep } from '../quota/scripts/sweep.ts';
import type { Settlement } from '../quota/settlement/settlement.ts';
import { startSweeper } from '../quota/sweep-buckets.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { watchMasters } from '../redis/watch-masters.ts';
import { type MemoryWatch, watchMemory } from '../redis/watch-memory.ts';

const COMMAND_TIMEOUT_MS = 1_000;
/** How long a node that ends may wait for the store. What is left stays on the disk. */
const JOURNAL_DRAIN_MAX_MS = 2_000;
/**
 * A new master may not take writes at once. Recent writes are then repeated once a second, for as
 * long as they are kept.
 */
const REPEAT_ATTEMPTS_MAX = 600;
const REPEAT_DELAY_MS = 1_000;
const CONNECT_TIME_MAX_MS = 10_000;

interface BookkeepingOptions {
  readonly target: RedisTarget;
  readonly dataDir: string;
  readonly metrics: ProcessMetrics;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Bookkeeping {
  readonly directory: Directory;
  readonly audit: AuditLog;
  readonly ledger: LedgerDesk;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** Resolves when accounts can be written, or when the time is up. */
  waitForStore(): Promise<void>;
  /** To be called when no worker is left. */
  close(): Promise<void>;
}

/**
 * A node's part in accounts and credits: the work that is done once per node, not by every worker.
 */
export async function startBookkeeping(options: BookkeepingOptions): Promise<Bookkeeping> {
  const { target, dataDir, metrics, clock, log } = options;
  const random = Math.random;
  const connect = (name: string, label: 'primary' | 'accounts') => {
    const onCommand = createObserveCommand(metrics, label);
    return connectRedis({ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log, onCommand });
  };
  const connection = connect('primary', 'primary');
  // Waiting for a replica blocks a connection, so accounts have their own.
  const directoryConnection = connect('primary-accounts', 'accounts');
  // Reading the ledger can take long, so nothing else waits on its connection.
  const ledgerConnection = connect('primary-ledger', 'primary');
  const ledgerDir = join(dataDir, 'ledger');
  const ledgerPlace = { connection: ledgerConnection, dirs: [ledgerDir] };

  const journal = await openSettleJournal({
    dir: join(dataDir, 'journal'),
    settle: countFaults(metrics, (settlement: Settlement) => settle(connection, settlement)),
    findCharged: createFindCharged(ledgerPlace, clock),
    onSettled: createObserveSettled(metrics),
    ...{ clock, random, log },
  });
  const sweeper = startSweeper({
    sweep: (bucket, countMax) => sweep(connection, bucket, countMax),
    onSwept: createObserveSwept(metrics),
    random,
    log,
  });
  const nodeId = loadNodeId(dataDir);
  const exporter = startLedgerExporter({ connection, dir: ledgerDir, nodeId, clock, log });
  const memory = watchMemory(connection);
  watchBooks(metrics, { journal, exporter, memory, ledgerDir, clock });
  const directory = createDirectory({
    ...{ connection: directoryConnection, randomBytes, clock, digestKey },
  });
  const audit = createAuditLog({ connection, randomBytes, clock, log });
  const masters = watchMasters({
    ...{ connection, log },
    onChange() {
      journal.replay();
      exporter.noteMasterChange();
      void repeatWrites(directory, audit, log);
    },
    onSame: journal.noteSame,
  });

  return {
    directory,
    audit,
    ledger: createLedgerDesk(ledgerPlace),
    journal: (settlements) => journal.append(settlements),
    waitForStore: () => waitForConnection(directoryConnection),
    async close() {
      masters.stop();
      memory.stop();
      await sweeper.stop();
      const left = await journal.drain(JOURNAL_DRAIN_MAX_MS);
      if (left > 0) log.warn({ left }, 'settlements stay in the journal until the next start');
      await journal.close();
      await exporter.stop();
      await audit.close();
      await Promise.all([connection, directoryConnection, ledgerConnection].map((c) => c.close()));
    },
  };
}

function createObserveSwept(metrics: ProcessMetrics): (reply: SweepReply) => void {
  return ({ swept, chargedMicros }) => {
    metrics.holdsSwept.at({}).add(swept);
    metrics.creditsSwept.at({}).add(creditsOf(chargedMicros));
  };
}

interface WatchedBooks {
  readonly journal: Pick<SettleJournal, 'depth'>;
  readonly exporter: Pick<LedgerExporter, 'readMs'>;
  readonly memory: Pick<MemoryWatch, 'usedShare'>;
  readonly ledgerDir: string;
  readonly clock: Clock;
}

function watchBooks(metrics: ProcessMetrics, parts: WatchedBooks): void {
  const { journal, exporter, memory, ledgerDir, clock } = parts;
  metrics.redisMemoryUsed.watch((set) => {
    const share = memory.usedShare();
    if (share !== undefined) set({}, share);
  });
  metrics.settleJournalDepth.watch((set) => set({}, journal.depth));
  metrics.ledgerExporterActive.watch((set) => set({}, exporter.readMs() === undefined ? 0 : 1));
  metrics.ledgerExportLag.watch((set) => {
    const readMs = exporter.readMs();
    if (readMs !== undefined) set({}, Math.max(0, clock.nowMs() - readMs) / 1_000);
  });
  metrics.ledgerDrifts.watch((set) => {
    const result = readVerifyResult(ledgerDir);
    if (result !== undefined) set({}, result.drifts);
  });
  metrics.ledgerHoldsUnsettled.watch((set) => {
    const unsettled = readVerifyResult(ledgerDir)?.unsettledHolds;
    if (unsettled !== undefined) set({}, unsettled);
  });
  metrics.ledgerVerifiedTime.watch((set) => {
    const result = readVerifyResult(ledgerDir);
    if (result !== undefined) set({}, result.verifiedMs / 1_000);
  });
}

async function repeatWrites(directory: Directory, audit: AuditLog, log: Log): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await directory.replayRecentWrites();
      await audit.replayRecentEntries();
      return;
    } catch (error) {
      if (attempt === 1) log.warn({ err: error }, 'changes of accounts are repeated later');
      if (attempt === REPEAT_ATTEMPTS_MAX) {
        log.error({ err: error }, 'changes of accounts could not be repeated after a failover');
        return;
      }
      await sleep(REPEAT_DELAY_MS, undefined, { ref: false });
    }
  }
}

async function waitForConnection({ client }: RedisConnection): Promise<void> {
  if (client.status === 'ready') return;
  const isReady = new Promise((resolve) => client.once('ready', resolve));
  await Promise.race([isReady, sleep(CONNECT_TIME_MAX_MS, undefined, { ref: false })]);
}
