import { type ForgetOptions, forgetOldCounters } from '../books/duties/forget-old-counters.ts';
import { msOfDay } from '../books/engine/days.ts';
import type { Ingester } from '../books/ingest/start-ingester.ts';
import { firstKeptDay } from '../books/retention/first-kept-day.ts';
import { forgetRefusals } from '../books/retention/forget-refusals.ts';
import type { Log } from '../lib/log.ts';
import { createDuty } from './create-duty.ts';

interface ForgetterOptions extends ForgetOptions {
  /** Undefined where the archiver deletes old counts of refusals. */
  readonly refusalsKeptMs: number | undefined;
}

/** Deletes old counts of refusals; and once a day what Redis need not keep. */
export function createForgetter(
  options: ForgetterOptions,
  ingester: () => Pick<Ingester, 'state'> | undefined,
  log: Log,
): () => Promise<void> {
  const forget = async (untilMs: number) => {
    // With a clock that is ahead, it would forget what is still in use.
    const clock = { nowMs: () => Math.min(options.clock.nowMs(), untilMs) };
    await forgetOldRefusals({ ...options, clock }, log);
    const { months, keys } = await forgetOldCounters({ ...options, clock });
    if (months + keys > 0) log.info({ months, keys }, 'Redis has forgotten what the books keep');
  };
  const failure = 'old counters could not be deleted';
  return createDuty(forget, { ingester, failure, signal: options.signal, log });
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
