/** The engine notes what is read where only after some dozens of times. */
const READS = 1_000;

/**
 * Makes a prototype a plain row of properties, where it was a table that is looked up at each call of each of its methods,
 * in compiled code too. The engine does so when it notes that something is read through an object that inherits from it.
 */
export function putInOrder(prototype: object, method: string): void {
  const heir: Readonly<Record<string, unknown>> = Object.create(prototype);
  for (let i = 0; i < READS; i++) {
    if (typeof heir[method] !== 'function') throw new Error(`it has a method ${method}`);
  }
}
