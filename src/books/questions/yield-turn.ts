import { setImmediate } from 'node:timers/promises';

/**
 * Lets the thread hear that the answer is not wanted any more, and lets other questions continue:
 * libsql answers at once, so nothing else would. Throws when the answer is not wanted.
 */
export async function yieldTurn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await setImmediate();
  signal.throwIfAborted();
}
