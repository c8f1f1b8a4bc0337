import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { createRecentSettlements, type SettlementReader } from './recent-settlements.ts';
import type { SettleReply } from './settle.ts';
import type { Settlement } from './settlement.ts';

/** A replica that takes over is behind by seconds, not by minutes. */
const REPLAY_WINDOW_MS = 60_000;
/** The window at 3,300 requests a second. */
const REPLAY_ENTRIES_MAX = 200_000;
const REPLAY_BYTES_MAX = 64 * 1_024 ** 2;

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

interface SettleReplayOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A master that takes over may lack what the old one had acknowledged last. Settling that again restores it
 * where it is missing, and does nothing where it is not.
 */
export function createSettleReplay({ clock, log }: SettleReplayOptions): SettleReplay {
  const recent = createRecentSettlements({
    ageMaxMs: REPLAY_WINDOW_MS,
    countMax: REPLAY_ENTRIES_MAX,
    bytesMax: REPLAY_BYTES_MAX,
    clock,
  });
  let left: SettlementReader | undefined;
  let takenNotEnded = 0;
  let replayed = 0;
  let restored = 0;
  let isAskedAgain = false;

  const begin = () => {
    left = recent.read();
    [replayed, restored] = [left.left, 0];
  };

  const isRunning = () => (left?.left ?? 0) > 0 || takenNotEnded > 0;

  return {
    remember: recent.add,
    start() {
      if (isRunning()) isAskedAgain = true;
      else begin();
    },
    take() {
      const settlement = left?.take();
      if (settlement !== undefined) takenNotEnded++;
      return settlement;
    },
    noteEnd(settlement, reply) {
      takenNotEnded--;
      if (reply !== undefined && reply.kind !== 'repeated') {
        restored++;
        // What was only repeated is older than this, and stays in its place.
        recent.add(settlement);
      }
      if (isRunning()) return;
      log.info({ replayed, restored }, 'settlements were sent again after a change of master');
      if (!isAskedAgain) return;
      isAskedAgain = false;
      begin();
    },
  };
}
