import { createDeferred } from '../lib/time/deferred.ts';

/**
 * A terminal sends the signal of one Ctrl-C to all its processes, and npm passes on the one that it
 * gets, so a node may get two.
 */
const REPEAT_MAX_MS = 1_000;

/** The first signal drains the node. One that comes later ends it without waiting for the drain. */
export function createEnding() {
  const reached = createDeferred<Error | NodeJS.Signals>();
  const hurried = createDeferred<true>();
  let firstMs: number | undefined;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      reached.resolve(signal);
      const nowMs = performance.now();
      firstMs ??= nowMs;
      if (nowMs - firstMs > REPEAT_MAX_MS) hurried.resolve(true);
    });
  }
  const fail = (reason: Error) => reached.resolve(reason);
  return { reached: reached.promise, hurried: hurried.promise, fail };
}

/**
 * Takes every SIGHUP from now on, since one that nobody handles ends the process. One that comes
 * before there is a `reload` to call is kept for it.
 */
export function watchHangUps(): (reload: () => void) => void {
  let isAsked = false;
  let onHangUp = () => {
    isAsked = true;
  };
  process.on('SIGHUP', () => onHangUp());
  return (reload) => {
    onHangUp = reload;
    if (isAsked) reload();
  };
}
