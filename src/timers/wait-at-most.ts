/** Resolves with the event or when the time is up. Does not keep the process alive. */
export async function waitAtMost(timeMaxMs: number, event: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeMaxMs).unref();
  });
  await Promise.race([event, timeUp]).finally(() => clearTimeout(timer));
}
