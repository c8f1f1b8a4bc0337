import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createDeferred, type Deferred } from '../../lib/time/deferred.ts';
import { waitAtMost } from '../../timers/wait-at-most.ts';
import type { SettleReply } from '../scripts/settle.ts';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';
import { createOverdueHandOver, QUEUE_ENTRIES_MAX, type QueueTask } from './overdue-hand-over.ts';
import { createSettleLanes } from './settle-lanes.ts';
import { createSettlementReplay } from './settlement-replay.ts';

/**
 * Reached only if neither Redis nor the primary answers. Every further settlement is written to the
 * log, complete.
 */
const KEPT_ENTRIES_MAX = 2 * QUEUE_ENTRIES_MAX;

export interface SettleQueue {
  /** Returns at once. */
  add(settlement: Settlement): void;
  /** How many settlements have neither been answered nor handed over. */
  readonly depth: number;
  /** Settles or hands over what there is. Resolves with how many were left when the time was up. */
  drain(timeoutMs: number): Promise<number>;
  /**
   * Sends again what Redis acknowledged in the last minute during which the masters were reachable.
   */
  replay(): void;
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
  stop(): void;
}

interface SettleQueueOptions {
  /** One attempt; throws if Redis does not answer. */
  readonly settle: (settlement: Settlement) => Promise<SettleReply>;
  /**
   * Resolves when the primary has them on its disk. From then on the primary is responsible for
   * them.
   */
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  /** Called once for each settlement that this worker settled itself, but not for replays. */
  readonly onSettled: (reply: SettleReply, settlement: Settlement) => void;
  /** There was no room for the settlement, or nobody who took it: only the log has it. */
  readonly onDropped: (settlement: Settlement) => void;
  readonly clock: Clock;
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number;
  readonly log: Log;
}

/**
 * The settlements of one worker on their way to Redis:
 *
 *   added ──▶ tried until answered ──▶ remembered for a minute ──▶ forgotten
 *                    │ a second old, too many,          └─ tried again when the master changes
 *                    ▼ too old, or a fault
 *             handed over to the primary, which settles it from its journal
 *
 * Nobody waits for a settlement. Settling is idempotent, so both this worker and the primary may
 * try the same one.
 */
export function createSettleQueue(options: SettleQueueOptions): SettleQueue {
  const { settle, handOver, onSettled, onDropped, clock, random, log } = options;
  const replay = createSettlementReplay({ onMore: () => lanes.noteSpare(), clock, log });
  const lanes = createSettleLanes<QueueTask>({
    settle,
    random,
    takeSpare() {
      const settlement = replay.take();
      return settlement && createTask(settlement, clock.nowMs(), true);
    },
    onReply(task, reply) {
      if (reply.kind === 'too_old') return giveUp(task, 'is too old to be settled');
      const { settlement, isReplay } = task;
      if (isReplay) {
        replay.noteEnd(settlement, reply);
      } else {
        replay.remember(settlement);
        onSettled(reply, settlement);
      }
      noteEnd();
      return undefined;
    },
    onFault: (task, error) => giveUp(task, 'cannot be settled', error),
  });
  const { tasks } = lanes;
  let beingGivenUp = 0;
  let emptied: Deferred | undefined;
  const noteEnd = () => {
    if (tasks.size + beingGivenUp === 0) emptied?.resolve();
  };
  const giveUp = async ({ settlement, isReplay }: QueueTask, why: string, error?: unknown) => {
    beingGivenUp++;
    await handToPrimary(settlement, options, why, error);
    beingGivenUp--;
    if (isReplay) replay.noteEnd(settlement, undefined);
    noteEnd();
  };
  const overdue = createOverdueHandOver({
    tasks,
    handOver,
    onHandedOver(handedOver) {
      for (const task of handedOver) lanes.remove(task);
      noteEnd();
    },
    clock,
    random,
    log,
  });

  return {
    add(settlement) {
      if (tasks.size >= KEPT_ENTRIES_MAX) {
        reportLost(log, settlement, 'has no place left in memory');
        onDropped(settlement);
        return;
      }
      lanes.add(createTask(settlement, clock.nowMs(), false));
      overdue.watch();
    },
    get depth() {
      return tasks.size + beingGivenUp;
    },
    async drain(timeoutMs) {
      overdue.hurry(timeoutMs / 2);
      emptied = createDeferred();
      noteEnd();
      await waitAtMost(timeoutMs, emptied.promise);
      return [...tasks].filter(({ isReplay }) => !isReplay).length + beingGivenUp;
    },
    replay: replay.start,
    noteSame: replay.noteSame,
    stop() {
      overdue.stop();
      lanes.stop();
    },
  };
}

function createTask(settlement: Settlement, sinceMs: number, isReplay: boolean): QueueTask {
  return { settlement, sinceMs, isReplay, next: undefined, previous: undefined, isListed: false };
}

/** The primary tries it once more, alone, and has a file for what cannot be settled. */
async function handToPrimary(
  settlement: Settlement,
  { handOver, onDropped, log }: SettleQueueOptions,
  why: string,
  error: unknown,
): Promise<void> {
  try {
    await handOver([settlement]);
    if (error) log.warn({ err: error, requestId: settlement.requestId }, `a settlement ${why}`);
  } catch {
    reportLost(log, settlement, why, error);
    onDropped(settlement);
  }
}

/** Logs a settlement that an operator has to enter by hand. */
function reportLost(log: Log, settlement: Settlement, why: string, error?: unknown): void {
  const fields = { settlement: describeSettlement(settlement), ...(error ? { err: error } : {}) };
  log.error(fields, `a settlement ${why}`);
}
