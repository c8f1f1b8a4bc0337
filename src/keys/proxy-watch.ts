import { createBoundedCache } from '../lib/collections/bounded-cache.ts';
import type { Clock } from '../lib/time/clock.ts';
import type { KeyOrigin } from '../protocol/admission.ts';

/**
 * If one address has this many clients, none of them on a private network, it is a proxy of ours.
 */
const CLAIMS_MIN = 3;
const CLAIMS_KEPT_MS = 3_600_000;
const ADDRESSES_MAX = 1_000;

/**
 * What is wrong with `guards.trusted_proxies`. If it is too low, all clients of a proxy count as
 * one client. If it is too high, clients can invent addresses.
 */
export type ProxyDoubt = 'too_low' | 'too_high';

/**
 * Reports what the origins of good keys reveal about the proxies in front. Strangers cannot raise a
 * doubt.
 */
export function createProxyWatch(clock: Clock): (origin: KeyOrigin) => ProxyDoubt | undefined {
  const claimsOf = createBoundedCache<Set<string>>({
    clock,
    keepMs: CLAIMS_KEPT_MS,
    entriesMax: ADDRESSES_MAX,
  });

  const noteClaim = (address: string, claimed: string): number => {
    const claims = claimsOf.get(address) ?? new Set();
    if (claims.size < CLAIMS_MIN) {
      claims.add(claimed);
      claimsOf.set(address, claims);
    }
    return claims.size;
  };

  return ({ address, isLocal, claimed, cameDirectly }) => {
    if (cameDirectly) return 'too_high';
    if (claimed === undefined) return undefined;
    if (isLocal) return 'too_low';
    return noteClaim(address, claimed) >= CLAIMS_MIN ? 'too_low' : undefined;
  };
}
