import { createMinuteLimiter } from '../guards/minute-limiter.ts';
import { createBoundedCache } from '../lib/collections/bounded-cache.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { KeyOrigin } from '../protocol/admission.ts';

/** If many clients may share an address, the store is asked for this many times as many keys. */
const SHARED_FACTOR = 20;
const GOOD_ADDRESS_KEPT_MS = 3_600_000;
const GOOD_ADDRESSES_MAX = 10_000;
const WAITING_KEPT_MS = 60_000;
const WAITING_MAX = 10_000;

export interface FailedKeyGuard {
  /** Milliseconds until a key known to be wrong may be tried; 0 is now. */
  retryAfterMs(origin: KeyOrigin): number;
  /** Milliseconds until the store may be asked for a key; 0 is now. */
  askAfterMs(origin: KeyOrigin): number;
  noteFailure(origin: KeyOrigin): void;
  /** The store has been asked, and does not know the key. */
  noteUnknown(origin: KeyOrigin): void;
  noteGood(origin: KeyOrigin): void;
}

/**
 * Slows down clients that guess keys. It counts failures only.
 *
 * An address that good keys come from may have many clients behind it, such as an office or a
 * proxy that nobody has named. So may a local one if no proxy is trusted. A client that guesses
 * there, or keeps using a revoked key, must not shut out the others. So the store is asked for
 * more keys from such an address, and each address that requests claim to come from gets its own
 * part of them. A claim alone opens nothing: inventing claims gets nobody more than the address
 * has.
 */
export function createFailedKeyGuard({
  perMinuteMax,
  trustedProxies,
  clock,
}: {
  readonly perMinuteMax: number;
  readonly trustedProxies: number;
  readonly clock: Clock;
}): FailedKeyGuard {
  const failures = createFailureCount(perMinuteMax, clock);
  const asked = createFailureCount(perMinuteMax * SHARED_FACTOR, clock);
  const claims = createFailureCount(perMinuteMax, clock);
  const goodAddresses = createBoundedCache<true>({
    clock,
    keepMs: GOOD_ADDRESS_KEPT_MS,
    entriesMax: GOOD_ADDRESSES_MAX,
  });
  const mayBeShared = ({ address, isLocal }: KeyOrigin) =>
    goodAddresses.get(address) === true || (trustedProxies === 0 && isLocal);

  return {
    retryAfterMs: ({ address }) => failures.waitMs(address),
    askAfterMs(origin) {
      const { address, claimed } = origin;
      const waitMs = failures.waitMs(address);
      if (waitMs === 0 || !mayBeShared(origin)) return waitMs;
      const claimWaitMs = claimed === undefined ? 0 : claims.waitMs(`${address} ${claimed}`);
      return Math.max(asked.waitMs(address), claimWaitMs);
    },
    noteFailure: ({ address }) => failures.count(address),
    noteUnknown({ address, claimed }) {
      failures.count(address);
      asked.count(address);
      if (claimed !== undefined) claims.count(`${address} ${claimed}`);
    },
    noteGood: ({ address }) => goodAddresses.set(address, true),
  };
}

interface FailureCount {
  /** Milliseconds until the key may continue; 0 is now. */
  waitMs(key: string): number;
  count(key: string): void;
}

/**
 * The limiter answers with promises, but a key has to be checked at once, before anything is
 * awaited. So addresses and claims that have used up a minute are kept here too, and looked up at
 * once.
 */
function createFailureCount(perMinuteMax: number, clock: Clock): FailureCount {
  // The last failure that is allowed already makes the next one wait.
  const limiter = createMinuteLimiter({ perMinuteMax: perMinuteMax - 1 });
  const waitingUntilMs = createBoundedCache<number>({
    clock,
    keepMs: WAITING_KEPT_MS,
    entriesMax: WAITING_MAX,
  });
  const countOne = async (key: string) => {
    const waitMs = await limiter.take(key);
    if (waitMs > 0) waitingUntilMs.set(key, clock.nowMs() + waitMs);
  };
  return {
    waitMs: (key) => Math.max(0, (waitingUntilMs.get(key) ?? 0) - clock.nowMs()),
    count: (key) => void countOne(key),
  };
}
