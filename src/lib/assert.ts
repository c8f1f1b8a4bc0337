/** States what must hold unless the program itself is wrong; an operator's or a client's mistake is never an assertion. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
