import type { StopSignal } from '../lib/time/stop-signal.ts';
import type { Lease, NoRoute } from '../routing/router.ts';
import type { WaitingRoom } from '../routing/waiting-room.ts';

/** If no place is free by then, the request is refused: clients retry by themselves. */
const LEASE_WAIT_MAX_MS = 5_000;

/**
 * Returns a lease at once, or as soon as a place is free. If that takes too long, or too many wait,
 * returns why there is none. Throws the signal's reason as soon as it is aborted.
 */
export function waitForLease(
  room: WaitingRoom,
  {
    model,
    exclude,
    signal,
  }: {
    readonly model: string;
    readonly exclude: ReadonlySet<string>;
    readonly signal: StopSignal;
  },
): Lease | NoRoute | Promise<Lease | NoRoute> {
  signal.throwIfAborted();
  const chosen = room.choose(model, exclude);
  if (chosen.kind === 'lease' || chosen.why !== 'full') return chosen;
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    const leave = room.wait(model, exclude, (lease) => {
      stop();
      resolve(lease);
    });
    const onAbort = () => {
      stop();
      leave?.();
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      stop();
      leave?.();
      resolve(room.choose(model, exclude));
    }, LEASE_WAIT_MAX_MS);
    if (leave === undefined) {
      stop();
      resolve(chosen);
      return;
    }
    signal.addEventListener('abort', onAbort);
  });
}
