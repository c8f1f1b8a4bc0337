import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const CHECK_MS = 10_000;
const AFTER_START_MS = 60_000;
/** A heap that has grown by less is left alone. */
const GROWTH_SHARE_MIN = 0.25;
const GROWTH_BYTES_MIN = 2_000_000;

/**
 * Gives back what this thread needed to load its code, or for work that is over, and returns the
 * size of its heap. V8 waits until a heap has some 25 MB, and leaves the gaps in it as they are.
 * Blocks the thread, for 40 to 70 ms where a heap is that small, so it is nothing for a worker.
 */
function compactHeap(): number {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--compact-on-every-full-gc');
  runInNewContext('gc()');
  setFlagsFromString('--no-compact-on-every-full-gc');
  return getHeapStatistics().total_heap_size;
}

/** Compacts the heap once, a while after its thread has started: that is busy enough. */
export function compactHeapLater(): void {
  setTimeout(compactHeap, AFTER_START_MS).unref();
}

/** Does the same, and compacts the heap again whenever it has grown, until the thread ends. */
export function keepHeapCompact(): void {
  const keep = () => {
    let compactBytes = compactHeap();
    const check = () => {
      const grownBytes = getHeapStatistics().total_heap_size - compactBytes;
      const grownMinBytes = GROWTH_BYTES_MIN + GROWTH_SHARE_MIN * compactBytes;
      if (grownBytes >= grownMinBytes) compactBytes = compactHeap();
    };
    setInterval(check, CHECK_MS).unref();
  };
  setTimeout(keep, AFTER_START_MS).unref();
}
