import type { Config } from '../config/config.ts';
import type { ApiKey, Caller } from '../gateway/steps.ts';
import { createFailedKeyGuard } from '../guards/guard-failed-keys.ts';
import { readClientAddress } from '../guards/read-client-address.ts';
import { createUnknownKeyMemory } from '../guards/remember-unknown-keys.ts';
import { parseApiKey } from '../keys/api-key.ts';
import { createBoundedCache } from '../lib/bounded-cache.ts';
import type { Clock } from '../lib/clock.ts';
import { maskKey, readApiKey, refuseKey } from '../protocol/read-api-key.ts';
import { Refusal } from '../protocol/refusals.ts';
import type { AdmitReply } from '../quota/admit.ts';
import { digestKey } from '../quota/digest-key.ts';
import type { IdentifyReply } from '../quota/identify.ts';
import { refuseClosedKey, retryAfter } from '../quota/refuse-admission.ts';

/** Revocation is final: what was told once stays true, whatever a failed-over store may say. */
const REVOKED_KEPT_MS = 3_600_000;
const REVOKED_MAX = 10_000;
/** Whoever had a good key a moment ago does not wait for others at the same address. */
const GOOD_KEPT_MS = 300_000;
const GOOD_MAX = 10_000;

export interface KeyCheck {
  /** Reads a request's key; throws what can be refused without asking the store. */
  check(caller: Caller): ApiKey;
  /** What the store said of a key. */
  noteReply(
    key: Pick<ApiKey, 'digest' | 'address'>,
    kind: AdmitReply['kind'] | IdentifyReply['kind'],
  ): void;
  noteRevoked(keyId: string): void;
}

/** All that a worker knows of keys by itself. It lets nobody in: that is for the store, every time. */
export function createKeyCheck(guards: Config['guards'], clock: Clock): KeyCheck {
  const failures = createFailedKeyGuard({ perMinuteMax: guards.failedKeysPerMinuteMax });
  const unknownKeys = createUnknownKeyMemory({ clock });
  const revokedKeys = createBoundedCache<true>({
    clock,
    keepMs: REVOKED_KEPT_MS,
    entriesMax: REVOKED_MAX,
  });
  const goodKeys = createBoundedCache<true>({ clock, keepMs: GOOD_KEPT_MS, entriesMax: GOOD_MAX });

  const addressOf = (caller: Caller) =>
    readClientAddress({
      peerAddress: caller.peerAddress,
      forwardedFor: caller.joinedHeader('x-forwarded-for'),
      trustedProxies: guards.trustedProxies,
    });

  const stopGuessing = (address: string) => {
    const waitMs = failures.retryAfterMs(address);
    if (waitMs === 0) return;
    throw new Refusal('rate_limited', 'Too many requests with keys that do not exist.', {
      headers: retryAfter(waitMs),
    });
  };

  return {
    check(caller) {
      const text = readApiKey((name) => caller.header(name));
      const parsed = parseApiKey(text);
      const digest = parsed === undefined ? '' : digestKey(text);
      const masked = maskKey(text);
      const isUnknown = parsed === undefined || unknownKeys.has(digest);
      if (!isUnknown && goodKeys.get(digest) === true) {
        if (revokedKeys.get(parsed.keyId) === true) throw refuseClosedKey('revoked');
        return { keyId: parsed.keyId, bucket: parsed.bucket, digest, masked, address: undefined };
      }
      const address = addressOf(caller);
      stopGuessing(address);
      if (isUnknown || revokedKeys.get(parsed.keyId) === true) {
        failures.noteFailure(address);
        throw refuseKey(text);
      }
      return { keyId: parsed.keyId, bucket: parsed.bucket, digest, masked, address };
    },
    noteReply({ digest, address }, kind) {
      if (kind === 'unknown') {
        unknownKeys.add(digest);
        if (address !== undefined) failures.noteFailure(address);
      } else if (kind !== 'revoked' && kind !== 'expired') {
        goodKeys.set(digest, true);
      }
    },
    noteRevoked: (keyId) => revokedKeys.set(keyId, true),
  };
}
