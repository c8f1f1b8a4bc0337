import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';

/** The time between two log lines about lost spans. */
const LOG_EVERY_MS = 60_000;

interface Losses {
  note(spans: number, why: string): void;
  /** Logs at once what was not logged yet. */
  close(): void;
}

interface LossesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Called at once for each loss. No span is counted twice. */
  readonly onLost: (spans: number) => void;
}

/** Counts lost spans, and logs them now and then. */
export function countLosses({ clock, log, onLost }: LossesOptions): Losses {
  let dropped = 0;
  let lastWhy = '';
  let loggedMs = Number.NEGATIVE_INFINITY;
  const logLosses = () => {
    if (dropped > 0) log.warn({ dropped, why: lastWhy }, 'spans are lost');
    dropped = 0;
  };
  return {
    note(spans, why) {
      dropped += spans;
      onLost(spans);
      lastWhy = why;
      const nowMs = clock.nowMs();
      if (nowMs - loggedMs < LOG_EVERY_MS) return;
      loggedMs = nowMs;
      logLosses();
    },
    close: logLosses,
  };
}
