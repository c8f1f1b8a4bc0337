import type { Log } from '../lib/log.ts';
import type { DrainOrder } from '../messages/worker-messages.ts';
import type { WorkerExit, WorkerProcess } from './fork-worker.ts';
import { decideRestart, SHORT_LIVES_MAX } from './restart-policy.ts';

export interface SlotsOptions {
  readonly fork: (slot: number) => WorkerProcess;
  /** From a clock that nobody sets: it only measures how long a worker lived. */
  readonly nowMs: () => number;
  readonly log: Log;
  /** Called when a worker ended by itself and is replaced. */
  readonly onReplace: () => void;
  /** Called when a slot cannot be kept alive. */
  readonly onGiveUp: (reason: Error) => void;
}

export interface WorkerSlots {
  launch(number: number): WorkerProcess;
  /** Puts the worker into the slot. If it dies there, another one replaces it. */
  occupy(number: number, worker: WorkerProcess): void;
  /** Drains the worker of a slot and returns it. It then belongs to no slot. */
  vacate(number: number, order: DrainOrder): WorkerProcess | undefined;
  retire(worker: WorkerProcess, order: DrainOrder): void;
  /** From now on, no worker is replaced. */
  freeze(): void;
  numbers(): number[];
  /** The worker of each slot, also one that has died and is not replaced yet. */
  occupants(): WorkerProcess[];
  /** Every living worker, in a slot or draining. */
  workers(): WorkerProcess[];
}

interface Slot {
  readonly worker: WorkerProcess;
  readonly shortLives: number;
  restartTimer: NodeJS.Timeout | undefined;
}

/** How much longer than its drain order a worker may take before it is killed. */
const DRAIN_GRACE_MS = 5_000;

/**
 * Keeps one worker alive in each slot. Gives up after too many short lives in a row.
 *
 *   launched ──▶ listening ──▶ died ──(delay)──▶ launched …
 *                   └──▶ retired ──▶ exited
 */
export function createWorkerSlots(options: SlotsOptions): WorkerSlots {
  const { fork, nowMs, log, onReplace, onGiveUp } = options;
  const slots = new Map<number, Slot>();
  const bornMs = new WeakMap<WorkerProcess, number>();
  const alive = new Set<WorkerProcess>();
  let isFrozen = false;

  const launch = (number: number): WorkerProcess => {
    const worker = fork(number);
    bornMs.set(worker, nowMs());
    alive.add(worker);
    void worker.exited.then(() => alive.delete(worker));
    logStart(worker, number, log);
    return worker;
  };

  const occupy = (number: number, worker: WorkerProcess, shortLives: number) => {
    const slot: Slot = { worker, shortLives, restartTimer: undefined };
    slots.set(number, slot);
    void worker.exited.then((exit) => {
      if (!isFrozen && slots.get(number) === slot) replace(number, slot, exit);
    });
  };

  const replace = (number: number, slot: Slot, exit: WorkerExit) => {
    const livedMs = Math.round(nowMs() - (bornMs.get(slot.worker) ?? 0));
    const fields = { worker: number, workerPid: slot.worker.pid, livedMs, ...exit };
    if (exit.code === 0) log.warn(fields, 'worker ended by itself');
    else log.error(fields, 'worker died');
    const decision = decideRestart(livedMs, slot.shortLives);
    if (decision.kind === 'give-up') {
      const times = `${SHORT_LIVES_MAX} times in a row`;
      onGiveUp(new Error(`worker ${number} died ${times} shortly after its start`));
      return;
    }
    onReplace();
    slot.restartTimer = setTimeout(
      () => occupy(number, launch(number), decision.shortLives),
      decision.delayMs,
    );
  };

  const retire = (worker: WorkerProcess, order: DrainOrder) => {
    worker.drain(order);
    const killTimer = setTimeout(() => worker.kill(), order.timeoutMs + DRAIN_GRACE_MS);
    void worker.exited.then(() => clearTimeout(killTimer));
  };

  return {
    launch,
    retire,
    occupy: (number, worker) => occupy(number, worker, 0),
    vacate(number, order) {
      const slot = slots.get(number);
      if (slot === undefined) return undefined;
      slots.delete(number);
      clearTimeout(slot.restartTimer);
      retire(slot.worker, order);
      return slot.worker;
    },
    freeze() {
      isFrozen = true;
      for (const slot of slots.values()) clearTimeout(slot.restartTimer);
    },
    numbers: () => [...slots.keys()],
    occupants: () => [...slots.values()].map(({ worker }) => worker),
    workers: () => [...alive],
  };
}

function logStart(worker: WorkerProcess, number: number, log: Log): void {
  worker.listening.then(
    () => log.info({ worker: number, workerPid: worker.pid }, 'worker listens'),
    (error: Error) => log.error({ worker: number, reason: error.message }, 'worker did not start'),
  );
}
