import { LinkedList, type ListLinks } from '../lib/collections/linked-list.ts';
import type { Log } from '../lib/log.ts';
import type { Clock } from '../lib/time/clock.ts';
import { classifyRedisError } from '../redis/classify-redis-error.ts';
import { FIRST_RENEWAL_MS, RENEWAL_INTERVAL_MS, RENEWED_LEASE_MS } from './lease.ts';
import type { Hold, RenewReply } from './scripts/renew.ts';

const TICK_MS = 250;
/** With the tick this allows a thousand renewals a second: 10,000 streams that renew every 10 s. */
const RENEWALS_IN_FLIGHT_MAX = 256;
const RETRY_DELAY_MS = 1_000;

/** Why a running request must stop. */
type KeyStopReason = 'revoked' | 'suspended';

/** A running request of this worker. */
export interface OpenHold extends Hold {
  lastKnownMs: number;
  /** What the request has cost so far. */
  seenMicros(): number;
  /** Called at most once. */
  stop(reason: KeyStopReason): void;
}

export interface OpenHolds {
  readonly count: number;
  /** Returns the function that ends the hold. */
  open(hold: OpenHold): () => void;
  /** Stops every request that this matches. */
  stop(matches: (hold: Hold) => boolean, reason: KeyStopReason): void;
  /** Renews every hold at once, because the news of a change may have been missed. */
  renewAll(): void;
  /** Stops all renewals. */
  close(): void;
}

interface OpenHoldsOptions {
  readonly renew: (
    hold: Hold,
    state: { readonly seenMicros: number; readonly leaseMs: number },
  ) => Promise<RenewReply>;
  /** The clock of Redis. */
  readonly clock: Clock;
  readonly log: Log;
}

interface Entry extends ListLinks<Entry> {
  readonly hold: OpenHold;
  dueMs: number;
  isRenewing: boolean;
}

/**
 * The running requests of a worker. Renews their leases, and stops a request if its key is revoked
 * or its account is suspended.
 */
export function createOpenHolds({ renew, clock, log }: OpenHoldsOptions): OpenHolds {
  const entries = new LinkedList<Entry>();
  let renewalsInFlight = 0;

  const end = (entry: Entry, reason: KeyStopReason) => {
    if (entries.delete(entry)) entry.hold.stop(reason);
  };

  const renewOne = async (entry: Entry): Promise<void> => {
    entry.isRenewing = true;
    renewalsInFlight++;
    try {
      const seenMicros = entry.hold.seenMicros();
      // Taken before the question: the process may stall before it reads the reply.
      const askedMs = clock.nowMs();
      const reply = await renew(entry.hold, { seenMicros, leaseMs: RENEWED_LEASE_MS });
      if (reply === 'active') entry.hold.lastKnownMs = askedMs;
      entry.dueMs = clock.nowMs() + RENEWAL_INTERVAL_MS;
      if (reply === 'revoked' || reply === 'suspended') end(entry, reply);
      // If the hold is gone, the sweep has charged the cost noted last. The settlement adds the
      // difference.
    } catch (error) {
      // The request continues: its possible cost is held, and a lease outlives a short outage.
      entry.dueMs = clock.nowMs() + RETRY_DELAY_MS;
      if (classifyRedisError(error) === 'fault') {
        log.error({ requestId: entry.hold.requestId, err: error }, 'renewing a hold failed');
      }
    } finally {
      entry.isRenewing = false;
      renewalsInFlight--;
    }
  };

  const timer = setInterval(() => {
    const nowMs = clock.nowMs();
    // None is due later than this, unless the clock was set back.
    const dueMaxMs = nowMs + RENEWAL_INTERVAL_MS;
    for (const entry of entries) {
      if (renewalsInFlight >= RENEWALS_IN_FLIGHT_MAX) return;
      const isDue = entry.dueMs <= nowMs || entry.dueMs > dueMaxMs;
      if (isDue && !entry.isRenewing) void renewOne(entry);
    }
  }, TICK_MS);
  timer.unref();

  return {
    get count() {
      return entries.size;
    },
    open(hold) {
      const dueMs = clock.nowMs() + FIRST_RENEWAL_MS;
      const entry = createEntry(hold, dueMs);
      entries.append(entry);
      return () => entries.delete(entry);
    },
    stop(matches, reason) {
      // Stopping one request may end others.
      const matching = [...entries].filter(({ hold }) => matches(hold));
      for (const entry of matching) end(entry, reason);
    },
    renewAll() {
      for (const entry of entries) entry.dueMs = 0;
    },
    close: () => clearInterval(timer),
  };
}

function createEntry(hold: OpenHold, dueMs: number): Entry {
  return {
    hold,
    dueMs,
    isRenewing: false,
    next: undefined,
    previous: undefined,
    isListed: false,
  };
}
