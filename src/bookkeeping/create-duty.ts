import type { Ingester } from '../books/ingest/start-ingester.ts';
import type { Log } from '../lib/log.ts';

/** The pause after a failure: what fails may have taken a long time. */
const AGAIN_MS = 600_000;

interface DutyOptions {
  readonly ingester: () => Pick<Ingester, 'state'> | undefined;
  /** What the log says when it fails. */
  readonly failure: string;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/**
 * Work that only the node that writes the books does, now and then. `untilMs` is by the clock of
 * Redis, as are the times of entries: every older entry is in the books.
 */
export function createDuty(
  work: (untilMs: number) => Promise<unknown>,
  { ingester, failure, signal, log }: DutyOptions,
): () => Promise<void> {
  let failedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const untilMs = readUntil(ingester());
    if (untilMs === undefined || performance.now() - failedMs < AGAIN_MS) return;
    try {
      await work(untilMs);
    } catch (error) {
      if (signal.aborted) return;
      failedMs = performance.now();
      log.warn({ err: error }, failure);
    }
  };
}

/** Undefined on nodes that do not write the books, and while nothing is known of their state. */
function readUntil(ingester: Pick<Ingester, 'state'> | undefined): number | undefined {
  const state = ingester?.state();
  return state?.isIngesting === true ? state.untilMs : undefined;
}
