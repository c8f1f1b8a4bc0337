/** The due times of requests that wait for a connection, the longest waiting first. */
export interface WaitingQueue {
  readonly size: number;
  /** False if there is no room. */
  add(dueMs: number): boolean;
  /** Undefined if nothing waits. */
  take(): number | undefined;
}

export function createWaitingQueue(sizeMax: number): WaitingQueue {
  const ring = new Float64Array(sizeMax);
  let first = 0;
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(dueMs) {
      if (size === sizeMax) return false;
      ring[(first + size) % sizeMax] = dueMs;
      size += 1;
      return true;
    },
    take() {
      if (size === 0) return undefined;
      const dueMs = ring[first];
      first = (first + 1) % sizeMax;
      size -= 1;
      return dueMs;
    },
  };
}
