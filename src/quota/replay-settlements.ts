import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createFifo } from './fifo.ts';
import type { SettleReply } from './settle.ts';
import type { Settlement } from './settlement.ts';

/** A replica that takes over is behind by seconds, not by minutes. */
const REPLAY_WINDOW_MS = 60_000;
/** The window at 3,300 requests a second. */
const REPLAY_ENTRIES_MAX = 200_000;

export interface SettleReplay {
  /** It has been acknowledged just now. */
  remember(settlement: Settlement): void;
  /** Offers all that was acknowledged within the window once more; while it still does, once more again. */
  start(): void;
  /** The next one; its end is told by `noteEnd`. */
  take(): Settlement | undefined;
  /** Without a reply it cannot be settled. */
  noteEnd(settlement: Settlement, reply: SettleReply | undefined): void;
}

interface Remembered {
  readonly settlement: Settlement;
  readonly acknowledgedMs: number;
}

interface SettleReplayOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A master that takes over may lack what the old one had acknowledged last. Settling that again restores it
 * where it is missing, and does nothing where it is not.
 */
export function createSettleReplay({ clock, log }: SettleReplayOptions): SettleReplay {
  const remembered = createFifo<Remembered>();
  let left = createFifo<Settlement>();
  let takenNotEnded = 0;
  let replayed = 0;
  let restored = 0;
  let isAskedAgain = false;

  const remember = (settlement: Settlement) => {
    remembered.push({ settlement, acknowledgedMs: clock.nowMs() });
    forgetOld();
  };

  const forgetOld = () => {
    const sinceMs = clock.nowMs() - REPLAY_WINDOW_MS;
    for (let oldest = remembered.first(); oldest !== undefined; oldest = remembered.first()) {
      if (oldest.acknowledgedMs >= sinceMs && remembered.size <= REPLAY_ENTRIES_MAX) return;
      remembered.shift();
    }
  };

  const begin = () => {
    forgetOld();
    left = createFifo();
    for (const { settlement } of remembered) left.push(settlement);
    [replayed, restored] = [left.size, 0];
  };

  const isRunning = () => left.size > 0 || takenNotEnded > 0;

  return {
    remember,
    start() {
      if (isRunning()) isAskedAgain = true;
      else begin();
    },
    take() {
      const settlement = left.shift();
      if (settlement !== undefined) takenNotEnded++;
      return settlement;
    },
    noteEnd(settlement, reply) {
      takenNotEnded--;
      if (reply !== undefined && reply.kind !== 'repeated') {
        restored++;
        // What was only repeated is older than this, and stays in its place.
        remember(settlement);
      }
      if (isRunning()) return;
      log.info({ replayed, restored }, 'settlements were sent again after a change of master');
      if (!isAskedAgain) return;
      isAskedAgain = false;
      begin();
    },
  };
}
