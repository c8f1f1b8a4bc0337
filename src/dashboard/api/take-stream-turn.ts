/**
 * Over HTTP/1.1 a browser opens six connections to a node, for all its windows together. The others
 * are left for calls.
 */
const STREAMS_MAX = 4;

interface StreamTurn {
  /** Reads the stream to its end. */
  readonly run: () => Promise<void>;
  /** Called if other windows have all the streams. */
  readonly onWait: () => void;
  readonly ending: AbortSignal;
}

/**
 * Reads a stream as soon as the windows of this browser have fewer streams than they may. Where the
 * browser has no locks, which is so without TLS except on this machine, it is read at once.
 */
export function takeStreamTurn({ run, onWait, ending }: StreamTurn): Promise<void> {
  if (!isLimited()) return run();
  const taken = new AbortController();
  const waiting = AbortSignal.any([ending, taken.signal]);
  return new Promise((resolve, reject) => {
    let refusedCount = 0;
    const hold = async (lock: Lock | null) => {
      // The lock of another turn may have come first, or nobody waits any more.
      if (waiting.aborted) {
        if (!taken.signal.aborted) resolve();
        return;
      }
      if (lock !== null) {
        taken.abort();
        await run().then(resolve, reject);
        return;
      }
      refusedCount += 1;
      if (refusedCount < STREAMS_MAX) return;
      onWait();
      request({ signal: waiting });
    };
    const request = (options: LockOptions) => {
      for (let turn = 0; turn < STREAMS_MAX; turn += 1) {
        // It fails if it is aborted: by another turn, or because the waiting has ended.
        navigator.locks.request(`tollgate-stream-${turn}`, options, hold).catch(() => {
          if (!taken.signal.aborted) resolve();
        });
      }
    };
    request({ ifAvailable: true });
  });
}

/** HTTP/2 and later carry all streams in one connection. */
function isLimited(): boolean {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigator.locks !== undefined && (visit?.nextHopProtocol ?? '').startsWith('http/1');
}
