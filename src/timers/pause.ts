import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when the time is up or the signal is aborted, whichever comes first. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
