/** The first signal drains; a second one comes from somebody who does not want to wait for that. */
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
