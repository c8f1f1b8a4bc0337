import { createDeferred } from '../lib/time/deferred.ts';

/** The first signal drains the node. A second one ends it without waiting for the drain. */
export function createEnding() {
  const reached = createDeferred<Error | NodeJS.Signals>();
  const hurried = createDeferred<true>();
  let signals = 0;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      reached.resolve(signal);
      if (++signals > 1) hurried.resolve(true);
    });
  }
  const fail = (reason: Error) => reached.resolve(reason);
  return { reached: reached.promise, hurried: hurried.promise, fail };
}

/**
 * Takes every SIGHUP from now on: one that nobody expects ends a process. One that comes before
 * there is a `reload` to call is kept for it.
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
