/** Resolves when somebody can see the page. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (document.visibilityState === 'visible') return resolve();
    const look = () => {
      if (document.visibilityState === 'visible') finish(resolve);
    };
    const leave = () => finish(() => reject(signal.reason));
    const finish = (settle: () => void) => {
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', leave);
      settle();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', leave);
  });
}
