/** The first signal drains the node. A second one ends it without waiting for the drain. */
export function createEnding() {
  let settle: (reason: Error | NodeJS.Signals) => void = () => {};
  const reached = new Promise<Error | NodeJS.Signals>((resolve) => {
    settle = resolve;
  });
  const hurried = new Promise<true>((resolve) => {
    let signals = 0;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        settle(signal);
        if (++signals > 1) resolve(true);
      });
    }
  });
  return { reached, hurried, fail: (reason: Error) => settle(reason) };
}
