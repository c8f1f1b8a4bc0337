/**
 * States what must hold unless the program itself is wrong. A mistake of an operator or a client is
 * never an assertion.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
