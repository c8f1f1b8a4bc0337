import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import type { RedisConnection } from '../redis/connect-redis.ts';
import { createLedgerReader, type LedgerReader } from './create-ledger-reader.ts';
import { EXPORT_PACE, type ExportPace } from './export-pace.ts';
import { holdExporterLease, releaseExporterLease } from './exporter-lease.ts';

export interface LedgerExporter {
  /**
   * When this node last read the whole ledger or, before that, when it took the lease. Undefined
   * while another node exports.
   */
  readMs(): number | undefined;
  /** New entries may now have ids below those that were read last. */
  noteMasterChange(): void;
  /** Ends within the round; what was gathered is gathered again after the next start. */
  stop(): Promise<void>;
}

/** The store of a node that has just started is not connected in the first round. */
const FAILURES_TOLD_MIN = 2;

export interface LedgerExporterOptions {
  readonly connection: Pick<RedisConnection, 'client' | 'send'>;
  /** Of this node alone: `data_dir/ledger`. */
  readonly dir: string;
  /** The same after a restart, and no other node's. */
  readonly nodeId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace?: ExportPace;
}

/**
 * Writes the ledger to segments, and trims the streams behind them. One node at a time does this.
 * The next one begins where its own segments end, or with what is still in Redis. So an entry may
 * be in the segments of two nodes, or missing in those of one, but never in all of them together. A
 * node reads from the cursors of its newest segment, less 2 minutes.
 *
 *   no lease ──taken──▶ reading ────────▶ gathering ⇄ writing, trimming
 *      ▲                   ▲                  │
 *      │                   └── new master ────┤
 *      └────────────── lease is lost ─────────┘
 */
export function startLedgerExporter(options: LedgerExporterOptions): LedgerExporter {
  const { connection, nodeId, clock, log, pace = EXPORT_PACE } = options;
  const stopping = new AbortController();
  let reader: LedgerReader | undefined;
  let isMasterChanged = false;
  let failuresInRow = 0;
  let isInTrouble = false;
  let readMs: number | undefined;

  const holdLease = async () => {
    const isHeld = await holdExporterLease(connection, nodeId, pace.leaseMs);
    if (!isHeld) reader = undefined;
    readMs = isHeld ? (readMs ?? clock.nowMs()) : undefined;
    return isHeld;
  };

  const carryOutRound = async (): Promise<void> => {
    if (!(await holdLease())) return;
    if (isMasterChanged) reader = undefined;
    isMasterChanged = false;
    reader ??= await createLedgerReader({ ...options, pace, signal: stopping.signal });
    for (let isCaughtUp = false; !isCaughtUp && !stopping.signal.aborted; ) {
      const gathering = await reader.gather();
      if (reader.isSegmentDue(clock.nowMs())) await reader.write();
      await reader.trim();
      if (gathering.failure !== undefined) throw gathering.failure;
      if (!(await holdLease())) return;
      isCaughtUp = gathering.isCaughtUp;
      if (isCaughtUp) readMs = clock.nowMs();
    }
  };

  const noteTrouble = (error: unknown) => {
    const isOfRedis = classifyRedisError(error) !== 'fault';
    // Somebody may have to clear the disk, or bring the folder back: then it begins anew.
    if (!isOfRedis) reader = undefined;
    failuresInRow += 1;
    const isTold = !isOfRedis || failuresInRow >= FAILURES_TOLD_MIN;
    if (isInTrouble || !isTold) return;
    isInTrouble = true;
    log[isOfRedis ? 'warn' : 'error'](
      { err: error },
      'the ledger is not exported at the moment, and not trimmed',
    );
  };

  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await carryOutRound().then(() => {
        if (isInTrouble) log.info({}, 'the ledger is exported again');
        isInTrouble = false;
        failuresInRow = 0;
      }, noteTrouble);
      await sleep(pace.roundMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const ended = run();

  return {
    readMs: () => readMs,
    noteMasterChange: () => {
      isMasterChanged = true;
    },
    stop: async () => {
      stopping.abort();
      await ended;
      // Without it the next node waits for the lease to end.
      await releaseExporterLease(connection, nodeId).catch(() => {});
    },
  };
}
