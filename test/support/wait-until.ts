import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MIN_MS = 10;
const PAUSE_MAX_MS = 250;
/** Most looks ask a server: a long wait would take the time that the server needs for its work. */
const PAUSE_PER_WAITED = 1 / 20;

/** Waits for a condition, never for a fixed time. The bound only ends a test that would hang. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  what: string | (() => string),
  timeoutMs = 120_000,
): Promise<void> {
  const beganMs = performance.now();
  while (!(await condition())) {
    const waitedMs = performance.now() - beganMs;
    if (waitedMs > timeoutMs) {
      throw new Error(`waited in vain until ${typeof what === 'string' ? what : what()}`);
    }
    await sleep(Math.min(PAUSE_MAX_MS, Math.max(PAUSE_MIN_MS, waitedMs * PAUSE_PER_WAITED)));
  }
}

/** The same for a call that may fail until then. In vain, it tells how the last one failed. */
export async function waitUntilCalled(
  condition: () => Promise<boolean>,
  what: string,
  timeoutMs?: number,
): Promise<void> {
  let problem = '';
  const isTrue = () =>
    condition().catch((error: Error) => {
      problem = `; it failed with ${error.message}`;
      return false;
    });
  await waitUntil(isTrue, () => `${what}${problem}`, timeoutMs);
}
