import type { Log } from '../lib/log.ts';

/**
 * For work that is done again and again, and whose failures nobody else tells: the log has the
 * first failure of a row, and when the row is over.
 */
export function tellFailures(
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
