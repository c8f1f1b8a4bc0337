import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const CHECK_MS = 10_000;
const AFTER_START_MS = 60_000;
/** A heap that has grown by less is left alone. */
const GROWTH_SHARE_MIN = 0.25;
const GROWTH_BYTES_MIN = 2_000_000;

/**
 * Frees the memory that this thread needed to load its code, or for work that is over, and
 * returns the size of its heap. V8 waits until a heap has some 25 MB, and keeps its gaps. Blocks
 * the thread for 40 to 70 ms with a heap this small, too long for workers.
 */
function compactHeap(): number {
  setFlagsFromString('--expose-gc');
  setFlagsFromString('--compact-on-every-full-gc');
  runInNewContext('gc()');
  setFlagsFromString('--no-compact-on-every-full-gc');
  return getHeapStatistics().total_heap_size;
}

/** Compacts the heap once, a minute after the process has started: that is busy enough. */
export function compactHeapLater(): void {
  setTimeout(compactHeap, AFTER_START_MS).unref();
}

/**
 * Compacts the heap now, and again whenever it has grown, until the thread ends. If this began a
 * minute later, a primary that answers questions would exceed its 150 MB
 * (`bench/scenarios/books-memory.ts`).
 */
export function keepHeapCompact(): void {
  let compactBytes = compactHeap();
  const check = () => {
    const grownBytes = getHeapStatistics().total_heap_size - compactBytes;
    const grownMinBytes = GROWTH_BYTES_MIN + GROWTH_SHARE_MIN * compactBytes;
    if (grownBytes >= grownMinBytes) compactBytes = compactHeap();
  };
  setInterval(check, CHECK_MS).unref();
}
