import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';

/** Between two lines of the log on spans that are lost. */
const TOLD_EVERY_MS = 60_000;

export interface Losses {
  note(spans: number, why: string): void;
  /** Tells at once what was not told yet. */
  close(): void;
}

interface LossesOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** At once, and once for each span. */
  readonly onLost: (spans: number) => void;
}

/** Counts spans that are lost, and tells of them now and then. */
export function countLosses({ clock, log, onLost }: LossesOptions): Losses {
  let dropped = 0;
  let lastWhy = '';
  let toldMs = Number.NEGATIVE_INFINITY;
  const tell = () => {
    if (dropped > 0) log.warn({ dropped, why: lastWhy }, 'spans are lost');
    dropped = 0;
  };
  return {
    note(spans, why) {
      dropped += spans;
      onLost(spans);
      lastWhy = why;
      const nowMs = clock.nowMs();
      if (nowMs - toldMs < TOLD_EVERY_MS) return;
      toldMs = nowMs;
      tell();
    },
    close: tell,
  };
}
