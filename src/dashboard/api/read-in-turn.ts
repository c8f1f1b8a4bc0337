let last: Promise<unknown> = Promise.resolve();

/** A node has few seats for readers of the ledger: one page takes only one of them, and reads the next thing after it. */
export function readInTurn<Value>(signal: AbortSignal, read: () => Promise<Value>): Promise<Value> {
  const mine = last.then(() => {
    signal.throwIfAborted();
    return read();
  });
  last = mine.catch(() => {});
  return mine;
}
