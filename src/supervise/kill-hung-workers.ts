import type { Log } from '../lib/log.ts';
import type { WorkerProcess } from './fork-worker.ts';

const CHECK_MS = 1_000;
/** A worker that listens reports every second; a report may come late. */
const SILENT_MS_MIN = 5_000;
/** No single piece of work keeps a worker from its reports for this long. */
const HUNG_AFTER_MS = 60_000;

/**
 * Kills workers that listen and hang, since the kernel keeps giving them connections. What counts
 * is the time in which this process itself ran: after the whole machine was frozen, its workers
 * have been silent for a long time although nothing is wrong with them.
 */
export function killHungWorkers(workers: () => readonly WorkerProcess[], log: Log): void {
  const silentChecks = new WeakMap<WorkerProcess, number>();
  const check = (worker: WorkerProcess) => {
    const isSilent = worker.state() === 'listening' && worker.silentForMs() > SILENT_MS_MIN;
    const checks = isSilent ? (silentChecks.get(worker) ?? 0) + 1 : 0;
    silentChecks.set(worker, checks);
    if (checks * CHECK_MS < HUNG_AFTER_MS) return;
    silentChecks.delete(worker);
    log.error({ worker: worker.slot, workerPid: worker.pid }, 'worker hangs and is killed');
    worker.kill();
  };
  setInterval(() => workers().forEach(check), CHECK_MS).unref();
}
