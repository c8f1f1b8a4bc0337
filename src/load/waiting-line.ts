/** The times at which requests were due that wait for a connection, the longest waiting first. */
export interface WaitingLine {
  readonly size: number;
  /** False when there is no room. */
  add(dueMs: number): boolean;
  /** Undefined when nobody waits. */
  take(): number | undefined;
}

export function createWaitingLine(sizeMax: number): WaitingLine {
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
