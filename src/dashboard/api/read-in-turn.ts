let last: Promise<unknown> = Promise.resolve();

/**
 * A node lets only a few readers of the ledger in at once, so a page reads one thing after the
 * other.
 */
export function readInTurn<Value>(signal: AbortSignal, read: () => Promise<Value>): Promise<Value> {
  const mine = last.then(() => {
    signal.throwIfAborted();
    return read();
  });
  last = mine.catch(() => {});
  return mine;
}
