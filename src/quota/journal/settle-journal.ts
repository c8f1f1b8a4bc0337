import { setTimeout as sleep } from 'node:timers/promises';
import type { ListLinks } from '../../lib/collections/linked-list.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { SettleReply } from '../scripts/settle.ts';
import { describeSettlement, type Settlement } from '../settlement/settlement.ts';
import { createSettleLanes, type SettleTask } from '../settling/settle-lanes.ts';
import { createSettlementReplay } from '../settling/settlement-replay.ts';
import { openJournalFeed } from './journal-feed.ts';
import type { JournalSegment } from './journal-segment.ts';
import { appendUnsettled, UNSETTLED_FILE } from './unsettled-file.ts';

const SEGMENT_BYTES_MAX = 16 * 1024 ** 2;
const JOURNAL_BYTES_MAX = 1024 ** 3;

export interface SettleJournal {
  /** Resolves when they are on the disk, and rejects when they cannot be, or the journal is full. */
  append(settlements: readonly Settlement[]): Promise<void>;
  /** How many are in the journal and have not been answered. */
  readonly depth: number;
  /** Answers how many were left when the time was up; they stay on the disk. */
  drain(timeoutMs: number): Promise<number>;
  /** Sends again what was acknowledged in the last minute in which the masters were there. */
  replay(): void;
  /** The masters were seen, and are the same that they were so many milliseconds ago. */
  noteSame(elapsedMs: number): void;
  /** What is left is settled by the next one that opens the same folder. */
  close(): Promise<void>;
}

interface SettleJournalOptions {
  readonly dir: string;
  /** One attempt; throws when Redis does not answer. */
  readonly settle: (settlement: Settlement) => Promise<SettleReply>;
  /** What was charged already for one that is given up; undefined where nobody knows. */
  readonly findCharged: (settlement: Settlement) => Promise<number | undefined>;
  /** Once for each settlement of the journal; not for replays. */
  readonly onSettled: (reply: SettleReply) => void;
  readonly clock: Clock;
  /** Numbers from 0 up to 1. */
  readonly random: () => number;
  readonly log: Log;
}

interface JournalTask extends SettleTask, ListLinks<JournalTask> {
  /** Undefined for a replay: it has left the journal. */
  readonly segment: JournalSegment | undefined;
}

/**
 * Settlements that a worker could not get to Redis, kept on the disk until Redis has answered each:
 *
 *   appended ──▶ on the disk ──▶ tried until answered ──▶ gone, with the last one of its file
 *                                    └─ too old, or a fault ──▶ unsettled.ndjson, for the operator
 *
 * After a crash all of a file is settled again, also what had been answered: settling is idempotent for two
 * hours, and of what is older the operator is told.
 */
export async function openSettleJournal(options: SettleJournalOptions): Promise<SettleJournal> {
  const { dir, settle, findCharged, clock, random, log } = options;
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
    // Where it cannot be written the log alone has it.
    await appendUnsettled(dir, settlement, chargedMicros, reason).catch((error: unknown) => {
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
    async drain(timeoutMs) {
      await Promise.race([feed.waitUntilEmpty(), sleep(timeoutMs, undefined, { ref: false })]);
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
