import type { ListLinks } from '../../lib/collections/linked-list.ts';
import type { Log } from '../../lib/log.ts';
import { backOff } from '../../lib/time/back-off.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { Settlement } from '../settlement/settlement.ts';
import type { SettleLanes, SettleTask } from './settle-lanes.ts';

/** If the queue is longer, its oldest settlements are overdue at once, whatever their age. */
export const QUEUE_ENTRIES_MAX = 50_000;
const OVERDUE_AGE_MS = 1_000;
const BATCH_MAX = 1_000;
const RETRY_DELAYS = { firstMs: 250, maxMs: 5_000 };
const TICK_MS = 50;

export interface QueueTask extends SettleTask, ListLinks<QueueTask> {
  readonly sinceMs: number;
  /** The settlement has been acknowledged once, and is never handed over. */
  readonly isReplay: boolean;
}

type Tasks = SettleLanes<QueueTask>['tasks'];

export interface OverdueHandOver {
  /** Starts watching because there are tasks. Ends by itself when there are none. */
  watch(): void;
  /** From now on tasks of this age are overdue, unless the usual age is lower. */
  hurry(overdueAgeMs: number): void;
  stop(): void;
}

interface OverdueHandOverOptions {
  readonly tasks: Tasks;
  readonly handOver: (settlements: readonly Settlement[]) => Promise<void>;
  readonly onHandedOver: (tasks: readonly QueueTask[]) => void;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
}

/**
 * Hands over overdue tasks, one batch at a time. If the primary does not take a batch, its tasks
 * stay here.
 */
export function createOverdueHandOver(options: OverdueHandOverOptions): OverdueHandOver {
  const { tasks, handOver, onHandedOver, clock, random, log } = options;
  let overdueAgeMs = OVERDUE_AGE_MS;
  let failuresInRow = 0;
  let nextTryMs = 0;
  let isHandingOver = false;
  let timer: NodeJS.Timeout | undefined;

  const handOverAll = async (): Promise<void> => {
    isHandingOver = true;
    try {
      for (;;) {
        const batch = pickOverdue(tasks, clock.nowMs(), overdueAgeMs);
        if (batch.length === 0) break;
        await handOver(batch.map(({ settlement }) => settlement));
        onHandedOver(batch);
        failuresInRow = 0;
      }
    } catch (error) {
      nextTryMs = performance.now() + backOff(failuresInRow, RETRY_DELAYS, random);
      failuresInRow++;
      log.warn({ err: error, kept: tasks.size }, 'the primary does not take settlements');
    }
    isHandingOver = false;
  };

  const tick = () => {
    if (tasks.size === 0) stop();
    else if (!isHandingOver && performance.now() >= nextTryMs) void handOverAll();
  };

  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };

  return {
    watch() {
      timer ??= setInterval(tick, TICK_MS).unref();
    },
    hurry(ageMs) {
      overdueAgeMs = Math.min(OVERDUE_AGE_MS, ageMs);
    },
    stop,
  };
}

function pickOverdue(tasks: Tasks, nowMs: number, overdueAgeMs: number): QueueTask[] {
  const excess = tasks.size - QUEUE_ENTRIES_MAX;
  const picked: QueueTask[] = [];
  for (const task of tasks) {
    // The difference counts in both directions: a clock that was set back must not keep tasks here.
    const isYoung = Math.abs(nowMs - task.sinceMs) < overdueAgeMs;
    if ((isYoung && picked.length >= excess) || picked.length === BATCH_MAX) break;
    if (!task.isReplay) picked.push(task);
  }
  return picked;
}
