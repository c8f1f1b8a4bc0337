import { putInOrder } from '../collections/put-in-order.ts';

/** Those that requests read again and again. */
const NAMES = ['Buffer', 'performance', 'process'] as const;

/**
 * Makes globals of Node.js as fast as those of the language. They are there by a getter, which is called at each use, in
 * compiled code too: `Buffer.poolSize` takes 16 ns, and 1.4 once it is a plain value. What `performance` inherits is a
 * table, too (with both, 60 -> 40 ns for `now`).
 */
export function quickenGlobals(): void {
  for (const name of NAMES) {
    Object.defineProperty(globalThis, name, { value: globalThis[name], writable: true });
  }
  putInOrder(Object.getPrototypeOf(performance), 'now');
}
