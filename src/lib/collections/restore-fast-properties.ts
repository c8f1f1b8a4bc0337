/** V8 fills an inline cache only after some dozens of reads. */
const READS = 1_000;

/**
 * Gives a prototype its fast properties back if it is in dictionary mode: a hash table that each
 * call of each method looks up, even in optimized code. V8 restores them when an inline cache reads
 * through an object that inherits from the prototype.
 */
export function restoreFastProperties(prototype: object, method: string): void {
  const heir: Readonly<Record<string, unknown>> = Object.create(prototype);
  for (let i = 0; i < READS; i++) {
    if (typeof heir[method] !== 'function') throw new Error(`it has a method ${method}`);
  }
}
