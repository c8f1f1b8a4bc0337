import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A thread that has just started has other things to do. */
const CHECK_MS = 10_000;
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

/** Compacts the heap once, when the process has started. */
export function compactHeapLater(): void {
  setTimeout(compactHeap, CHECK_MS).unref();
}

/** Compacts the heap when the thread has started, and whenever it has grown. */
export function keepHeapCompact(): void {
  let grownBytesMin = 0;
  const check = () => {
    if (getHeapStatistics().total_heap_size < grownBytesMin) return;
    const compactBytes = compactHeap();
    grownBytesMin = compactBytes * (1 + GROWTH_SHARE_MIN) + GROWTH_BYTES_MIN;
  };
  setInterval(check, CHECK_MS).unref();
}
