import type { Log } from '../lib/log.ts';

/**
 * For work that is repeated, and whose failures nobody else reports. Logs the first failure in a
 * row, and the end of the row.
 */
export function logFailures(
  work: () => Promise<void>,
  failure: string,
  log: Log,
): () => Promise<void> {
  let isFailing = false;
  return async () => {
    try {
      await work();
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, failure);
      isFailing = true;
      return;
    }
    if (isFailing) log.info({}, `no longer: ${failure}`);
    isFailing = false;
  };
}
