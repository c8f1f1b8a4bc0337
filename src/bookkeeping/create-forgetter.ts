import { type ForgetOptions, forgetOldCounters } from '../books/duties/forget-old-counters.ts';
import { msOfDay } from '../books/engine/days.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import { firstKeptDay } from '../books/retention/first-kept-day.ts';
import { forgetRefusals } from '../books/retention/forget-refusals.ts';
import type { Log } from '../lib/log.ts';

/** After a failure; a round goes through all accounts. */
const AGAIN_MS = 600_000;

interface ForgetterOptions extends ForgetOptions {
  /** Undefined where the archiver deletes old counts of refusals. */
  readonly refusalsKeptMs: number | undefined;
}

/** What the node that writes the books does now and then; a round in Redis is once a day. */
export function createForgetter(
  options: ForgetterOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  let failedMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const untilMs = readUntil(ingester());
    if (untilMs === undefined || performance.now() - failedMs < AGAIN_MS) return;
    // A clock that is ahead would have it forget what is in use; the entries have that of Redis.
    const clock = { nowMs: () => Math.min(options.clock.nowMs(), untilMs) };
    try {
      await forgetOldRefusals({ ...options, clock }, log);
      const { months, keys } = await forgetOldCounters({ ...options, clock });
      if (months + keys > 0) log.info({ months, keys }, 'Redis has forgotten what the books keep');
    } catch (error) {
      if (options.signal.aborted) return;
      failedMs = performance.now();
      log.warn({ err: error }, 'what is old could not be cleared away');
    }
  };
}

/** Undefined on nodes that do not write the books, and while nothing is known of their state. */
function readUntil(ingester: Pick<Ingester, 'state'> | undefined): number | undefined {
  const state = ingester?.state();
  return state?.isIngesting === true ? state.untilMs : undefined;
}

async function forgetOldRefusals(
  { books, clock, signal, refusalsKeptMs }: ForgetterOptions,
  log: Log,
): Promise<void> {
  if (refusalsKeptMs === undefined) return;
  const beforeMs = msOfDay(firstKeptDay(clock.nowMs(), refusalsKeptMs));
  const counts = await forgetRefusals(books, beforeMs, signal);
  if (counts > 0) log.info({ counts }, 'old counts of refusals were deleted');
}
