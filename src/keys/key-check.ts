import { createBoundedCache } from '../lib/collections/bounded-cache.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { ApiKey, Caller } from '../protocol/admission.ts';
import { retryAfterHeaders } from '../protocol/rates/retry-after-headers.ts';
import { Refusal } from '../protocol/refusals.ts';
import { maskKey, parseApiKey } from './api-key.ts';
import { digestKey } from './digest-key.ts';
import { createFailedKeyGuard } from './failed-key-guard.ts';
import { createProxyWatch, type ProxyDoubt } from './proxy-watch.ts';
import { readApiKey } from './read-api-key.ts';
import { readKeyOrigin } from './read-key-origin.ts';
import { refuseClosedKey, refuseKey } from './refuse-key.ts';
import { createUnknownKeyMemory } from './unknown-key-memory.ts';

/**
 * Revocation is final: a key once reported as revoked stays so, whatever a failed-over store may
 * say.
 */
const REVOKED_REMEMBERED_MS = 3_600_000;
const REVOKED_MAX = 10_000;
/**
 * A client that had a good key a moment ago does not wait because of others at the same address.
 */
const GOOD_KEPT_MS = 300_000;
const GOOD_MAX = 10_000;

/** The replies of the store, and whether they show that the key is good. */
const IS_KEY_GOOD = {
  unknown: false,
  revoked: false,
  expired: false,
  suspended: false,
  known: true,
  admitted: true,
  model: true,
  finished: true,
  rate: true,
  in_flight: true,
  cap: true,
  balance: true,
  limit: true,
  too_large: true,
  user_missing: true,
  users_full: true,
} as const;

interface KeyGuards {
  /** How many proxies in front add an entry to x-forwarded-for. */
  readonly trustedProxies: number;
  readonly failedKeysPerMinuteMax: number;
}

interface StoreReply {
  readonly kind: keyof typeof IS_KEY_GOOD;
  /** Absent from refusals. */
  readonly accountId?: string;
}

export interface KeyCheck {
  /** Reads the key of a request. Throws if the request can be refused without asking the store. */
  check(caller: Caller): ApiKey;
  /** Takes the store's reply to a request with a key. */
  noteReply(key: Pick<ApiKey, 'digest' | 'origin'>, reply: StoreReply): void;
  noteRevoked(keyId: string): void;
}

/**
 * Everything that a worker knows about keys by itself. It admits nobody: the store decides that,
 * every time.
 */
export function createKeyCheck(
  guards: KeyGuards,
  /** Called for each request with a good key that raises a doubt. */
  onProxyDoubt: (doubt: ProxyDoubt) => void,
  clock: Clock,
): KeyCheck {
  const { trustedProxies, failedKeysPerMinuteMax: perMinuteMax } = guards;
  const failures = createFailedKeyGuard({ perMinuteMax, trustedProxies, clock });
  const watchProxies = createProxyWatch(clock);
  const unknownKeys = createUnknownKeyMemory({ clock });
  const revokedKeys = createBoundedCache<true>({
    clock,
    keepMs: REVOKED_REMEMBERED_MS,
    entriesMax: REVOKED_MAX,
  });
  const goodKeys = createBoundedCache<Pick<ApiKey, 'origin' | 'accountId'>>({
    clock,
    keepMs: GOOD_KEPT_MS,
    entriesMax: GOOD_MAX,
  });

  const originOf = (caller: Caller) =>
    readKeyOrigin({
      peerAddress: caller.peerAddress,
      forwardedFor: caller.header('x-forwarded-for'),
      trustedProxies,
    });

  return {
    check(caller) {
      const text = readApiKey((name) => caller.header(name));
      const parsed = parseApiKey(text);
      const digest = parsed === undefined ? '' : digestKey(text);
      const masked = maskKey(text);
      const isUnknown = parsed === undefined || unknownKeys.has(digest);
      const good = isUnknown ? undefined : goodKeys.get(digest);
      if (!isUnknown && good !== undefined) {
        if (revokedKeys.get(parsed.keyId) === true) throw refuseClosedKey('revoked');
        const { keyId, bucket } = parsed;
        const { origin, accountId } = good;
        return { keyId, bucket, digest, masked, isProven: true, accountId, origin };
      }
      const origin = originOf(caller);
      if (isUnknown || revokedKeys.get(parsed.keyId) === true) {
        stopGuessing(failures.retryAfterMs(origin));
        failures.noteFailure(origin);
        throw refuseKey(text);
      }
      stopGuessing(failures.askAfterMs(origin));
      const { keyId, bucket } = parsed;
      return { keyId, bucket, digest, masked, isProven: false, accountId: undefined, origin };
    },
    noteReply({ digest, origin }, { kind, accountId = goodKeys.get(digest)?.accountId }) {
      if (IS_KEY_GOOD[kind]) {
        goodKeys.set(digest, { origin, accountId });
        failures.noteGood(origin);
        const doubt = watchProxies(origin);
        if (doubt !== undefined) onProxyDoubt(doubt);
        return;
      }
      goodKeys.delete(digest);
      if (kind !== 'unknown') return;
      unknownKeys.add(digest);
      failures.noteUnknown(origin);
    },
    noteRevoked: (keyId) => revokedKeys.set(keyId, true),
  };
}

function stopGuessing(waitMs: number): void {
  if (waitMs === 0) return;
  throw new Refusal('rate_limited', 'Too many requests with keys that do not exist.', {
    headers: retryAfterHeaders(waitMs),
  });
}
