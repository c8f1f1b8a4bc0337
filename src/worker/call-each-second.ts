const INTERVAL_MS = 1_000;

/** Calls once a second. Returns a function that calls a last time and ends this. */
export function callEachSecond(call: (isLast: boolean) => void): () => void {
  const timer = setInterval(call, INTERVAL_MS, false);
  return () => {
    clearInterval(timer);
    call(true);
  };
}
