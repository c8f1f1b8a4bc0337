/** An inline cache of V8 is filled only after some dozens of reads. */
const READS = 1_000;

/**
 * Gives a prototype fast properties again, where it was in dictionary mode: a hash table that each call of each of its
 * methods looks up, in optimized code too. V8 does so when an inline cache reads through an object that inherits from it.
 */
export function restoreFastProperties(prototype: object, method: string): void {
  const heir: Readonly<Record<string, unknown>> = Object.create(prototype);
  for (let i = 0; i < READS; i++) {
    if (typeof heir[method] !== 'function') throw new Error(`it has a method ${method}`);
  }
}
