import { setTimeout as sleep } from 'node:timers/promises';
import { LinkedList, type ListLinks } from '../../lib/collections/linked-list.ts';
import { backOff } from '../../lib/time/back-off.ts';
import { classifyRedisError } from '../../redis/classify-redis-error.ts';
import type { SettleReply } from '../scripts/settle.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { createFifo } from './fifo.ts';

const SETTLES_IN_FLIGHT_MAX = 64;
const RETRY_DELAYS = { firstMs: 50, maxMs: 1_000 };

export interface SettleTask {
  readonly settlement: Settlement;
}

export interface SettleLanes<Task extends ListLinks<Task>> {
  /** Tasks that have neither been answered nor removed, the oldest first. */
  readonly tasks: Pick<LinkedList<Task>, 'size' | typeof Symbol.iterator>;
  add(task: Task): void;
  /** Somebody else takes care of the task now. An attempt in flight may still be answered. */
  remove(task: Task): void;
  /** Announces that `takeSpare` has a task. */
  noteSpare(): void;
  stop(): void;
}

interface Lane {
  failuresInRow: number;
}

interface SettleLanesOptions<Task> {
  /** One attempt; throws if Redis does not answer. */
  readonly settle: (settlement: Settlement) => Promise<SettleReply>;
  /** Returns a task that may be done while no other task waits. */
  readonly takeSpare: () => Task | undefined;
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number;
  /** The lane waits until the returned promise resolves. */
  readonly onReply: (task: Task, reply: SettleReply) => void | Promise<void>;
  /**
   * Called for a fault: Redis is not in trouble, and the same call would fail again. The lane waits
   * until the returned promise resolves.
   */
  readonly onFault: (task: Task, error: unknown) => void | Promise<void>;
}

/**
 * Settles each task until it is answered, in at most `SETTLES_IN_FLIGHT_MAX` lanes:
 *
 *   waiting ──▶ a free lane ──▶ answered
 *      ▲             │ Redis trouble
 *      └─────────────┘ and the lane pauses, for longer after each failure in a row
 *
 * The lane pauses, not the task. So an outage costs a few dozen attempts a second, however many
 * tasks wait, and the tasks of a Cluster node that is down do not delay the others.
 */
export function createSettleLanes<Task extends SettleTask & ListLinks<Task>>(
  options: SettleLanesOptions<Task>,
): SettleLanes<Task> {
  const { settle, takeSpare, random, onReply, onFault } = options;
  const tasks = new LinkedList<Task>();
  const waiting = createFifo<Task>();
  let lanes = 0;
  let isStopped = false;

  const takeNext = (): Task | undefined => {
    while (waiting.size > 0) {
      const task = waiting.shift();
      if (task?.isListed === true) return task;
    }
    const spare = takeSpare();
    if (spare !== undefined) tasks.append(spare);
    return spare;
  };

  /** Starts the next task, or ends the lane if there is none. */
  const goOn = (lane: Lane): void => {
    const task = isStopped ? undefined : takeNext();
    if (task === undefined) lanes--;
    else run(lane, task);
  };

  // Written without a promise for each step, because every request is settled here.
  const run = (lane: Lane, task: Task): void => {
    settle(task.settlement).then(
      (reply) => {
        lane.failuresInRow = 0;
        tasks.delete(task);
        const ended = onReply(task, reply);
        if (ended === undefined) goOn(lane);
        else void ended.then(() => goOn(lane));
      },
      (error: unknown) => void noteFailure(lane, task, error),
    );
  };

  const noteFailure = async (lane: Lane, task: Task, error: unknown): Promise<void> => {
    if (classifyRedisError(error) === 'fault') {
      lane.failuresInRow = 0;
      if (tasks.delete(task)) await onFault(task, error);
    } else {
      waiting.push(task);
      const delayMs = backOff(lane.failuresInRow, RETRY_DELAYS, random);
      await sleep(delayMs, undefined, { ref: false });
      lane.failuresInRow++;
    }
    goOn(lane);
  };

  const startLanes = () => {
    while (lanes < SETTLES_IN_FLIGHT_MAX && !isStopped) {
      const task = takeNext();
      if (task === undefined) return;
      lanes++;
      run({ failuresInRow: 0 }, task);
    }
  };

  return {
    tasks,
    add(task) {
      tasks.append(task);
      waiting.push(task);
      startLanes();
    },
    remove: (task) => {
      tasks.delete(task);
    },
    noteSpare: startLanes,
    stop() {
      isStopped = true;
    },
  };
}
