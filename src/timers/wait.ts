import type { StopSignal } from '../lib/time/stop-signal.ts';

/** Throws the reason of the signal as soon as it is aborted, and leaves no timer behind. */
export async function wait(ms: number, signal: StopSignal): Promise<void> {
  signal.throwIfAborted();
  if (ms <= 0) return;
  await orReason(signal, (resolve) => {
    const timer = setTimeout(resolve, ms);
    return () => clearTimeout(timer);
  });
}

/** Lets everything else that is ready have its turn. */
export async function giveWay(signal: StopSignal): Promise<void> {
  signal.throwIfAborted();
  await orReason(signal, (resolve) => {
    const immediate = setImmediate(resolve);
    return () => clearImmediate(immediate);
  });
}

function orReason(signal: StopSignal, begin: (resolve: () => void) => () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      reject(signal.reason);
    };
    const cancel = begin(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    });
    signal.addEventListener('abort', onAbort);
  });
}
