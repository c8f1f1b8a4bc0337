import { type RateInfo, showRate, showUse } from '../key-info.ts';
import type { LimitUse } from './limit-state.ts';

/** The limits that all keys of an account or a group meet. */
export interface SharedLimits {
  /** The time by the store's clock. */
  readonly nowMs: number;
  readonly windowMs: number;
  /** The plan's limit. */
  readonly rate: RateInfo;
  /** The limits in the lists of the group and the account. */
  readonly limits: readonly LimitUse[];
}

/** What is left of them, in the form of `GET /v1/key`. */
export function encodeSharedLimits({ nowMs, windowMs, rate, limits }: SharedLimits) {
  return {
    rate_window_seconds: windowMs / 1_000,
    rate: showRate(rate, nowMs),
    limits: limits.map((limit) => showUse(limit, nowMs)),
  };
}
