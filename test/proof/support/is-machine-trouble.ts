/**
 * Whether a test failed for a reason that says nothing of the scripts: the machine was too slow, or
 * a process was gone. That no message of a script comes does say something.
 */
export function isMachineTrouble(message: string): boolean {
  const TROUBLE =
    /^\w*Error: .*(timed out|ECONN|EADDRINUSE|Connection is closed|workers ended with)/;
  const WAITED = /^Error: waited in vain until (?!the messages have come)/;
  return TROUBLE.test(message) || WAITED.test(message);
}
