import type { ListLinks } from '../../lib/collections/linked-list.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { waitAtMost } from '../../timers/wait-at-most.ts';
import type { SettleReply } from '../scripts/settle.ts';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';
import { createSettleLanes, type SettleTask } from '../settling/settle-lanes.ts';
import { createSettlementReplay } from '../settling/settlement-replay.ts';
import { openJournalFeed } from './journal-feed.ts';
import type { JournalSegment } from './journal-segment.ts';
import { openUnsettledFile, UNSETTLED_FILE } from './unsettled-file.ts';

const SEGMENT_BYTES_MAX = 16 * 1024 ** 2;
const JOURNAL_BYTES_MAX = 1024 ** 3;

export interface SettleJournal {
  /**
   * Resolves when the settlements are on the disk. Rejects if they cannot be written, or if the
   * journal is full.
   */
  append(settlements: readonly Settlement[]): Promise<void>;
  /** How many settlements of the journal have not been answered. */
  readonly depth: number;
  /** How many bytes of settlements that were given up wait for people. */
  unsettledBytes(): number;
  /** Resolves with how many were left when the time was up. Those stay on the disk. */
  drain(timeoutMs: number): Promise<number>;
  /**
   * Sends again what Redis acknowledged in the last minute during which the masters were reachable.
   */
  replay(): void;
  /** The masters have answered, and are the same as they were this many milliseconds ago. */
  noteSame(elapsedMs: number): void;
  /** The next process that opens the same folder settles what is left. */
  close(): Promise<void>;
}

interface SettleJournalOptions {
  readonly dir: string;
  /** One attempt; throws if Redis does not answer. */
  readonly settle: (settlement: Settlement) => Promise<SettleReply>;
  /**
   * How much has already been charged for a settlement that is given up; undefined if that is
   * unknown.
   */
  readonly findCharged: (settlement: Settlement) => Promise<number | undefined>;
  /** Called once for each settlement of the journal, but not for replays. */
  readonly onSettled: (reply: SettleReply) => void;
  readonly clock: Clock;
  /** Returns numbers from 0 up to 1. */
  readonly random: () => number;
  readonly log: Log;
}

interface JournalTask extends SettleTask, ListLinks<JournalTask> {
  /** Undefined for a replay, which has left the journal. */
  readonly segment: JournalSegment | undefined;
}

/**
 * Settlements that a worker could not get to Redis. They are kept on the disk until Redis has
 * answered each:
 *
 *   appended ──▶ on the disk ──▶ tried until answered ──▶ gone, with the last one of its file
 *                                    └─ too old, or a fault ──▶ unsettled.ndjson, for the operator
 *
 * After a crash every settlement of a file is settled again, even if it had been answered. Settling
 * is idempotent for two hours; older settlements are reported to the operator.
 */
export async function openSettleJournal(options: SettleJournalOptions): Promise<SettleJournal> {
  const { dir, settle, findCharged, clock, random, log } = options;
  const unsettled = await openUnsettledFile(dir);
  const replay = createSettlementReplay({ onMore: () => lanes.noteSpare(), clock, log });
  const lanes = createSettleLanes<JournalTask>({
    settle,
    random,
    takeSpare() {
      const settlement = replay.take();
      return settlement && createTask(settlement, undefined);
    },
    async onReply(task, reply) {
      if (task.segment !== undefined) options.onSettled(reply);
      if (reply.kind === 'too_old') await giveUp(task, 'too old to know whether it was charged');
      else if (task.segment !== undefined) replay.remember(task.settlement);
      end(task, reply);
    },
    async onFault(task, error) {
      await giveUp(task, String(error));
      end(task, undefined);
    },
  });
  const feed = await openJournalFeed({
    dir,
    segmentBytesMax: SEGMENT_BYTES_MAX,
    bytesMax: JOURNAL_BYTES_MAX,
    loadedCount: () => lanes.tasks.size,
    onLoaded: (settlement, segment) => lanes.add(createTask(settlement, segment)),
    log,
  });

  const giveUp = async ({ settlement }: JournalTask, reason: string): Promise<void> => {
    const chargedMicros = await findCharged(settlement).catch((error: unknown) => {
      log.warn({ err: error }, 'what was charged already for a settlement is not known');
      return undefined;
    });
    const fields = { reason, chargedMicros, settlement: describeSettlement(settlement) };
    log.error(fields, `a settlement is left to the operator, in ${UNSETTLED_FILE}`);
    // If the file cannot be written, only the log has the settlement.
    await unsettled.append(settlement, chargedMicros, reason).catch((error: unknown) => {
      log.error({ err: error }, `${UNSETTLED_FILE} cannot be written`);
    });
  };

  const end = ({ settlement, segment }: JournalTask, reply: SettleReply | undefined) => {
    if (segment === undefined) replay.noteEnd(settlement, reply);
    else feed.noteEnd(segment);
  };

  return {
    async append(settlements) {
      if (settlements.length > 0) await feed.append(settlements);
    },
    get depth() {
      return feed.depth;
    },
    unsettledBytes: unsettled.bytes,
    async drain(timeoutMs) {
      await waitAtMost(timeoutMs, feed.waitUntilEmpty());
      return feed.depth;
    },
    replay: replay.start,
    noteSame: replay.noteSame,
    close() {
      lanes.stop();
      return feed.close();
    },
  };
}

function createTask(settlement: Settlement, segment: JournalSegment | undefined): JournalTask {
  return { settlement, segment, next: undefined, previous: undefined, isListed: false };
}
