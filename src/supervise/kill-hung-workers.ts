import type { Log } from '../lib/log.ts';
import type { WorkerProcess } from './fork-worker.ts';

const LOOK_MS = 1_000;
/** A worker that listens reports every second; a report may come late. */
const SILENT_MS_MIN = 5_000;
/** No single piece of work keeps a worker from its reports for so long. */
const HUNG_AFTER_MS = 60_000;

/**
 * Kills workers that listen and hang, since the kernel goes on giving them connections. What counts
 * is the time in which this process has looked: after the whole machine was frozen, its workers
 * have been silent for long although nothing is wrong with them.
 */
export function killHungWorkers(workers: () => readonly WorkerProcess[], log: Log): void {
  const silentLooks = new WeakMap<WorkerProcess, number>();
  const look = (worker: WorkerProcess) => {
    const isSilent = worker.state() === 'listening' && worker.silentForMs() > SILENT_MS_MIN;
    const looks = isSilent ? (silentLooks.get(worker) ?? 0) + 1 : 0;
    silentLooks.set(worker, looks);
    if (looks * LOOK_MS < HUNG_AFTER_MS) return;
    silentLooks.delete(worker);
    log.error({ worker: worker.slot, workerPid: worker.pid }, 'worker hangs and is killed');
    worker.kill();
  };
  setInterval(() => workers().forEach(look), LOOK_MS).unref();
}
