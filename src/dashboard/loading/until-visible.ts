/** Resolves when somebody can see the page. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (document.visibilityState === 'visible') return resolve();
    const check = () => {
      if (document.visibilityState === 'visible') finish(resolve);
    };
    const leave = () => finish(() => reject(signal.reason));
    const finish = (settle: () => void) => {
      document.removeEventListener('visibilitychange', check);
      signal.removeEventListener('abort', leave);
      settle();
    };
    document.addEventListener('visibilitychange', check);
    signal.addEventListener('abort', leave);
  });
}
