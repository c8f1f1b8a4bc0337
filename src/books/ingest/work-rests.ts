import { setTimeout as sleep } from 'node:timers/promises';

/** Work that nobody waits for runs for this long between two rests. */
const WORK_MS = 2;
const REST_MS = 5;

/**
 * Short rests in long work, for a thread that shares its core with workers: they get the core
 * before the system would take it from the thread by itself.
 */
export interface WorkRests {
  /** All further rests take this long together; 0 is work without rests. */
  allow(restMaxMs: number): void;
  /** To be called after each piece of work. Undefined while no rest is due. */
  take(): Promise<void> | undefined;
}

export function createWorkRests(nowMs = () => performance.now()): WorkRests {
  let restLeftMs = 0;
  let sinceMs = nowMs();
  return {
    allow(restMaxMs) {
      restLeftMs = restMaxMs;
      sinceMs = nowMs();
    },
    take() {
      if (restLeftMs < REST_MS || nowMs() - sinceMs < WORK_MS) return undefined;
      restLeftMs -= REST_MS;
      return sleep(REST_MS).then(() => {
        sinceMs = nowMs();
      });
    },
  };
}
