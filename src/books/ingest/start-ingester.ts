import type { FindCost } from '../../catalogue/find-cost.ts';
import type { Log } from '../../lib/log.ts';
import type { Clock } from '../../lib/time/clock.ts';
import type { RedisConnection } from '../../redis/connect-redis.ts';
import { pause } from '../../timers/pause.ts';
import type { Books } from '../engine/books.ts';
import { StaleBatchError } from '../writing/write-batch.ts';
import { DatabaseError } from './database-error.ts';
import { createIngestLease } from './ingest-lease.ts';
import { INGEST_PACE, type IngestPace } from './ingest-pace.ts';
import { createTroubleLog } from './trouble-log.ts';
import { createTurn, type Turn } from './turn.ts';
import type { WorkRests } from './work-rests.ts';

interface IngesterState {
  /** Whether this node holds the lease, and has written under it. */
  readonly isIngesting: boolean;
  /**
   * Every older entry is in the books, by the clock of Redis; undefined while another node writes.
   */
  readonly untilMs: number | undefined;
  /** Why this node writes nothing, unless another node does. */
  readonly failure: string | undefined;
}

export interface Ingester {
  state(): IngesterState;
  /** New entries may now have ids below those that were read last. */
  noteMasterChange(): void;
  /** Stops within the current batch; the next start continues after it. */
  stop(): Promise<void>;
}

interface IngesterOptions {
  readonly connection: Pick<RedisConnection, 'client' | 'isCluster' | 'send'>;
  /** A writer. */
  readonly books: Books;
  /** The id of the node, a space, and something that no other process has. */
  readonly run: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly findCost: FindCost;
  /** The entries that Redis has; undefined before they were counted. */
  waitingEntries(): number | undefined;
  readonly pace?: IngestPace;
  /** The rests that `books` takes between its statements. */
  readonly rests?: Pick<WorkRests, 'allow'>;
}

/**
 * Takes the entries of all streams and the audit log into the books, and trims the streams behind
 * them. One node at a time does this. An entry is written together with the cursor behind it, so it
 * is in the books once, whichever nodes are killed and whenever.
 *
 *   no lease ──taken──▶ reading the cursors ──▶ reading ⇄ writing, trimming
 *      ▲                        ▲                  │
 *      │                        └── new master, ───┤
 *      │                            stale batch    │
 *      ├─────────── lease is lost ─────────────────┤
 *      └── rest ◀── the database fails ────────────┘
 */
export function startIngester(options: IngesterOptions): Ingester {
  const { log, pace = INGEST_PACE } = options;
  const stopping = new AbortController();
  const lease = createIngestLease({ ...options, leaseMs: pace.leaseMs });
  const trouble = createTroubleLog(log);
  let turn: Turn | undefined;

  const hold = async (): Promise<number | undefined> => {
    const progress = { untilMs: turn?.untilMs(), waitingEntries: options.waitingEntries() };
    const reply = await lease.hold(progress);
    const isHeld = reply.state === 'held';
    if (!isHeld) turn = undefined;
    if (reply.state === 'other_node') trouble.end('another node writes the books');
    if (reply.state === 'other_books') trouble.noteOtherBooks(reply.ownId, reply.booksId);
    return isHeld ? reply.nowMs : undefined;
  };

  const carryOutRound = async (): Promise<number> => {
    const nowMs = await hold();
    if (nowMs === undefined) return pace.othersRoundMs;
    turn ??= createTurn({ ...options, pace, signal: stopping.signal });
    const isCaughtUp = await renewDuring(turn.carryOn(nowMs), hold, pace);
    if (isCaughtUp) await hold();
    trouble.end('the books are written again');
    return isCaughtUp ? pace.roundMs : pace.batchRestMs;
  };

  /** Returns how long to rest. */
  const noteFailure = async (error: unknown): Promise<number> => {
    if (error instanceof StaleBatchError) {
      turn?.rewind();
      return pace.batchRestMs;
    }
    if (!(error instanceof DatabaseError)) {
      trouble.noteRedis(error);
      return pace.roundMs;
    }
    turn = undefined;
    trouble.noteBooks(error);
    await lease.release();
    return pace.restMs;
  };

  const ended = repeat(() => carryOutRound().catch(noteFailure), stopping.signal);
  return {
    state: () => ({
      // A node can get the lease without its database, too.
      isIngesting: lease.isHeld() && turn?.hasCarriedOn() === true,
      untilMs: lease.isHeld() ? turn?.untilMs() : undefined,
      failure: trouble.current(),
    }),
    noteMasterChange: () => turn?.rewind(),
    async stop() {
      stopping.abort();
      await ended;
      // Without it the next node waits for the lease to end.
      await lease.release();
    },
  };
}

/** While a long batch is written, another node could begin at the same place. */
async function renewDuring<Result>(
  work: Promise<Result>,
  hold: () => Promise<unknown>,
  { leaseMs, renewedMsMax }: IngestPace,
): Promise<Result> {
  const everyMs = leaseMs / 3;
  const ending = new AbortController();
  const renew = async () => {
    for (let doneMs = 0; doneMs < renewedMsMax; doneMs += everyMs) {
      await pause(everyMs, ending.signal);
      if (ending.signal.aborted) return;
      await hold().catch(() => {});
    }
  };
  const renewing = renew();
  try {
    return await work;
  } finally {
    ending.abort();
    // A lease that is given up must not be taken again.
    await renewing;
  }
}

/** Each round returns how long to rest after it. */
async function repeat(round: () => Promise<number>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const restMs = await round();
    await pause(restMs, signal);
  }
}
