import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDirectory, type Directory } from '../accounts/directory.ts';
import { createLedgerDesk, type LedgerDesk } from '../ledger/create-ledger-desk.ts';
import { startLedgerExporter } from '../ledger/start-ledger-exporter.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { RedisTarget } from '../lib/redis-target.ts';
import { digestKey } from '../quota/digest-key.ts';
import { settle } from '../quota/settle.ts';
import { openSettleJournal } from '../quota/settle-journal.ts';
import type { Settlement } from '../quota/settlement.ts';
import { sweep } from '../quota/sweep.ts';
import { startSweeper } from '../quota/sweep-buckets.ts';
import { connectRedis, type RedisConnection } from '../redis/connect-redis.ts';
import { watchMasters } from '../redis/watch-masters.ts';
import { loadNodeId } from './load-node-id.ts';

const COMMAND_TIMEOUT_MS = 1_000;
/** How long the end of a node may wait for the store; what is left is on the disk. */
const JOURNAL_DRAIN_MAX_MS = 2_000;
/** A new master may not take writes at once: then once a second, as long as the writes are kept. */
const REPEAT_ATTEMPTS_MAX = 600;
const REPEAT_DELAY_MS = 1_000;
const CONNECT_TIME_MAX_MS = 10_000;

interface BookkeepingOptions {
  readonly target: RedisTarget;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Bookkeeping {
  readonly directory: Directory;
  readonly ledger: LedgerDesk;
  /** Resolves when the settlements are on the disk. */
  readonly journal: (settlements: readonly Settlement[]) => Promise<void>;
  /** Resolves when accounts can be written, or the time is up. */
  waitForStore(): Promise<void>;
  /** To be called when no worker is left. */
  close(): Promise<void>;
}

/** A node's side of accounts and credits: what is done once and not by every worker. */
export async function startBookkeeping(options: BookkeepingOptions): Promise<Bookkeeping> {
  const { target, dataDir, clock, log } = options;
  const random = Math.random;
  const connect = (name: string) =>
    connectRedis({ target, name, commandTimeoutMs: COMMAND_TIMEOUT_MS, log });
  const connection = connect('primary');
  // Waiting for a replica holds up a connection.
  const directoryConnection = connect('primary-accounts');
  // What operators read may be long: nothing else waits behind it.
  const ledgerConnection = connect('primary-ledger');
  const ledgerDir = join(dataDir, 'ledger');

  const journal = await openSettleJournal({
    dir: join(dataDir, 'journal'),
    settle: (settlement) => settle(connection, settlement),
    clock,
    random,
    log,
  });
  const sweeper = startSweeper({
    sweep: (bucket, countMax) => sweep(connection, bucket, countMax),
    onSwept: () => {},
    random,
    log,
  });
  const exporter = startLedgerExporter({
    connection,
    dir: ledgerDir,
    nodeId: loadNodeId(dataDir),
    clock,
    log,
  });
  const directory = createDirectory({
    connection: directoryConnection,
    randomBytes,
    clock,
    digestKey,
  });
  const masters = watchMasters({
    connection,
    log,
    onChange() {
      journal.replay();
      exporter.noteMasterChange();
      void repeatWrites(directory, log);
    },
  });

  return {
    directory,
    ledger: createLedgerDesk({ connection: ledgerConnection, dirs: [ledgerDir] }),
    journal: (settlements) => journal.append(settlements),
    waitForStore: () => waitForConnection(directoryConnection),
    async close() {
      masters.stop();
      await sweeper.stop();
      const left = await journal.drain(JOURNAL_DRAIN_MAX_MS);
      if (left > 0) log.warn({ left }, 'settlements stay in the journal until the next start');
      await journal.close();
      await exporter.stop();
      await Promise.all([connection, directoryConnection, ledgerConnection].map((c) => c.close()));
    },
  };
}

async function repeatWrites(directory: Directory, log: Log): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await directory.replayRecentWrites();
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
