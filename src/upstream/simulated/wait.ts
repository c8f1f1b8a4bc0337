import { setImmediate, setTimeout } from 'node:timers/promises';

/** Throws the reason of the signal, at once, when it is aborted; leaves no timer behind then. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await orReason(setTimeout(ms, undefined, { signal }), signal);
}

/** Lets everything else that is ready have its turn. */
export async function giveWay(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await orReason(setImmediate(undefined, { signal }), signal);
}

async function orReason(done: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await done;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}
