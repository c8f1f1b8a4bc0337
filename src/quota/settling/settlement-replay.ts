import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { SettleReply } from '../scripts/settle.ts';
import type { Settlement } from '../settlement/settlement.ts';
import { createRecentSettlements, type SettlementReader } from './recent-settlements.ts';

/** A replica that takes over is behind by seconds, not by minutes. */
const REPLAY_WINDOW_MS = 60_000;
/** What is sent again after a longer outage would meet a store that says of more and more that it is too old. */
const OUTAGE_MAX_MS = 1_800_000;
/** The window at 3,300 requests a second. */
const REPLAY_ENTRIES_MAX = 200_000;
const REPLAY_BYTES_MAX = 64 * 1_024 ** 2;

export interface SettlementReplay {
  /** It has been acknowledged just now. */
  remember(settlement: Settlement): void;
  /** The masters were seen, and are the same that they were so many milliseconds ago. */
  noteSame(elapsedMs: number): void;
  /** Offers all that was acknowledged within the window once more; while it still does, once more again. */
  start(): void;
  /** The next one; its end is told by `noteEnd`. */
  take(): Settlement | undefined;
  /** Without a reply it cannot be settled. */
  noteEnd(settlement: Settlement, reply: SettleReply | undefined): void;
}

interface SettlementReplayOptions {
  /** There is something to take. */
  readonly onMore: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * A master that takes over may lack what the old one had acknowledged last. Settling that again restores it
 * where it is missing, and does nothing where it is not. However long nobody takes over, the window ends when
 * the old one was last seen.
 */
export function createSettlementReplay(options: SettlementReplayOptions): SettlementReplay {
  const { onMore, clock, log } = options;
  let servedMs = 0;
  let seenAtMs = clock.nowMs();
  /** Stands still while a master is away, unless that takes too long. */
  const readServedMs = () => servedMs + Math.max(0, clock.nowMs() - seenAtMs - OUTAGE_MAX_MS);
  const recent = createRecentSettlements({
    ageMaxMs: REPLAY_WINDOW_MS,
    countMax: REPLAY_ENTRIES_MAX,
    bytesMax: REPLAY_BYTES_MAX,
    clock: { nowMs: readServedMs },
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
    noteSame(elapsedMs) {
      servedMs = readServedMs() + elapsedMs;
      seenAtMs = clock.nowMs();
    },
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
