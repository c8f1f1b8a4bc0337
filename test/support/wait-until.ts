import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 10;

/** Waits for a condition, never for a fixed time. The bound only ends a test that would hang. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string),
  timeoutMs = 120_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline) {
      throw new Error(`waited in vain until ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(POLL_MS);
  }
}
