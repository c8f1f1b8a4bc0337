const INTERVAL_MS = 1_000;

/** Calls `call` once a second. Returns a function that stops this and calls it one last time. */
export function callEachSecond(call: (isLast: boolean) => void): () => void {
  const timer = setInterval(call, INTERVAL_MS, false);
  return () => {
    clearInterval(timer);
    call(true);
  };
}
