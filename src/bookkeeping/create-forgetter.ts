import { type ForgetOptions, forgetOldCounters } from '../books/duties/forget-old-counters.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import type { Log } from '../lib/log.ts';

/** After a failure; a round goes through all accounts. */
const AGAIN_MS = 600_000;

/** What the node that writes the books does now and then; a round takes place once a day. */
export function createForgetter(
  options: ForgetOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  let failedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const isWriter = ingester()?.state().isIngesting === true;
    if (!isWriter || performance.now() - failedMs < AGAIN_MS) return;
    try {
      const { months, keys } = await forgetOldCounters(options);
      if (months + keys > 0) log.info({ months, keys }, 'Redis has forgotten what the books keep');
    } catch (error) {
      failedMs = performance.now();
      log.warn({ err: error }, 'Redis could not be cleared of what the books keep');
    }
  };
}
