import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { createMasterClock } from '../../lib/time/master-clock.ts';
import type { SettleReply } from '../scripts/settle.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { createRecentSettlements, type SettlementReader } from './recent-settlements.ts';

/** A replica that takes over is behind by seconds, not by minutes. */
const REPLAY_WINDOW_MS = 60_000;
/** A full window at 3,300 requests a second. */
const REPLAY_ENTRIES_MAX = 200_000;
const REPLAY_BYTES_MAX = 64 * 1_024 ** 2;

export interface SettlementReplay {
  /** Redis has just acknowledged this settlement. */
  remember(settlement: Settlement): void;
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
  /**
   * Offers once more everything acknowledged within the window. If a replay is running, another one
   * follows it.
   */
  start(): void;
  /** Returns the next settlement. The caller reports its end with `noteEnd`. */
  take(): Settlement | undefined;
  /** An undefined reply means that it cannot be settled. */
  noteEnd(settlement: Settlement, reply: SettleReply | undefined): void;
}

interface SettlementReplayOptions {
  /** Announces that there is something to take. */
  readonly onMore: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A master that takes over may lack what the old one acknowledged last. Settling that again
 * restores it where it is missing, and changes nothing where it is not. The window ends when the
 * old master was last seen, unless the outage is longer than the clock stands still: the store
 * would then answer `too_old` to more and more of it.
 */
export function createSettlementReplay(options: SettlementReplayOptions): SettlementReplay {
  const { onMore, clock, log } = options;
  const masterClock = createMasterClock(clock);
  const recent = createRecentSettlements({
    ageMaxMs: REPLAY_WINDOW_MS,
    countMax: REPLAY_ENTRIES_MAX,
    bytesMax: REPLAY_BYTES_MAX,
    clock: masterClock,
  });
  let left: SettlementReader | undefined;
  let takenNotEnded = 0;
  let replayed = 0;
  let restored = 0;
  let isAskedAgain = false;

  const begin = () => {
    left = recent.read();
    [replayed, restored] = [left.left, 0];
    onMore();
  };

  const isRunning = () => (left?.left ?? 0) > 0 || takenNotEnded > 0;

  return {
    remember: recent.add,
    noteSame: masterClock.noteSame,
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
        // A settlement that was only repeated is older than this moment, and keeps its place.
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
