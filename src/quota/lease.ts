/**
 * A hold lives as long as its lease. Most requests end within their first lease; the others renew
 * it.
 *
 *   admitted ──5 s──▶ renewed ──10 s──▶ renewed … ──▶ settled
 *      └── 15 s without ──▶ swept      └── 60 s without ──▶ swept
 */
export const FIRST_LEASE_MS = 15_000;
export const FIRST_RENEWAL_MS = 5_000;
export const RENEWED_LEASE_MS = 60_000;
export const RENEWAL_INTERVAL_MS = 10_000;
