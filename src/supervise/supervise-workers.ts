import type { DrainOrder } from '../messages/worker-messages.ts';
import { waitAtMost } from '../timers/wait-at-most.ts';
import type { WorkerProcess } from './fork-worker.ts';
import { killHungWorkers } from './kill-hung-workers.ts';
import { createWorkerSlots, type SlotsOptions } from './worker-slots.ts';

export interface Supervisor {
  /** Rejects with the first reason if a worker cannot start at all. */
  start(count: number): Promise<void>;
  /**
   * Replaces every worker, one by one. Stops at the first new worker that cannot start and leaves
   * the other workers as they are.
   */
  roll(count: number, order: RollOrder): Promise<RollResult>;
  /** Ends every worker. None is replaced from then on. */
  stop(order: DrainOrder): Promise<void>;
  killAll(): void;
  /** Every living worker, including workers that are being replaced. */
  workers(): readonly WorkerProcess[];
}

export interface RollOrder extends DrainOrder {
  /** For workers that earlier rolls have replaced, so that not too many drain at once. */
  readonly hurriedMs: number;
  /** The last roll stopped, and this one takes back what it did. It hurries no worker again. */
  readonly isUndo: boolean;
}

interface RollResult {
  /**
   * How many slots have a worker that was started since: by the roll, or in place of one that died
   * meanwhile.
   */
  readonly replaced: number;
  /** Why a new worker did not start. */
  readonly failure: Error | undefined;
}

/**
 * How long a roll waits for the replaced worker before it continues with the next. The clients of
 * busy connections have moved within this time. A slower worker keeps draining by itself.
 */
const ROLL_STEP_MAX_MS = 3_000;

export function superviseWorkers(options: SlotsOptions): Supervisor {
  const slots = createWorkerSlots(options);
  killHungWorkers(slots.workers, options.log);
  /** What the last roll that replaced any worker has replaced, and its undo. */
  let rolled = new Set<WorkerProcess>();
  let isStopping = false;

  /**
   * A replaced worker that takes long keeps its memory. When a roll replaces its first worker,
   * those of the previous roll may still take their time, and earlier ones may not. A roll that
   * replaces no worker shortens no drain.
   */
  const hurryEarlier = ({ hurriedMs, lingerMs }: RollOrder) => {
    for (const worker of slots.workers()) {
      if (worker.state() !== 'draining' || rolled.has(worker)) continue;
      slots.retire(worker, { timeoutMs: hurriedMs, lingerMs });
    }
  };

  const vacate = (number: number, order: RollOrder, replaced: Set<WorkerProcess>) => {
    if (rolled !== replaced) hurryEarlier(order);
    rolled = replaced;
    const old = slots.vacate(number, order);
    if (old !== undefined) replaced.add(old);
    return old;
  };

  const rollSlot = async (number: number, order: RollOrder, replaced: Set<WorkerProcess>) => {
    const replacement = slots.launch(number);
    try {
      await replacement.listening;
    } catch (error) {
      replacement.kill();
      throw error;
    }
    if (isStopping) return;
    const old = vacate(number, order, replaced);
    slots.occupy(number, replacement);
    if (old !== undefined) await waitAtMost(ROLL_STEP_MAX_MS, old.exited);
  };

  return {
    async start(count) {
      const workers = range(count).map((number) => {
        const worker = slots.launch(number);
        slots.occupy(number, worker);
        return worker.listening;
      });
      await Promise.all(workers);
    },
    async roll(count, order) {
      const replaced = order.isUndo ? rolled : new Set<WorkerProcess>();
      const earlier = new Set(slots.occupants());
      for (const number of range(count)) {
        try {
          if (!isStopping) await rollSlot(number, order, replaced);
        } catch (error) {
          const failure = error instanceof Error ? error : new Error(String(error));
          const started = slots.occupants().filter((worker) => !earlier.has(worker));
          return { replaced: started.length, failure };
        }
      }
      for (const number of slots.numbers()) {
        if (number > count) vacate(number, order, replaced);
      }
      return { replaced: count, failure: undefined };
    },
    async stop(order) {
      isStopping = true;
      slots.freeze();
      const workers = slots.workers();
      for (const worker of workers) slots.retire(worker, order);
      await Promise.all(workers.map((worker) => worker.exited));
    },
    workers: slots.workers,
    killAll() {
      isStopping = true;
      slots.freeze();
      for (const worker of slots.workers()) worker.kill();
    },
  };
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
