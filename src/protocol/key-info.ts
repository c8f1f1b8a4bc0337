import { showTime } from '../lib/time/show-time.ts';
import { creditsOf } from '../lib/units/micros.ts';
import { formatWindow } from '../limits/parse-window.ts';
import type { LimitUse } from './rates/limit-state.ts';
import { integer, list, nullable, number, object, text } from './schema.ts';

export interface RateInfo {
  /** Requests per window. */
  readonly limit: number;
  readonly left: number;
  /** Milliseconds until no request counts against the limit any more. */
  readonly resetMs: number;
}

/** What a key may read about itself. */
export interface KeyInfo {
  readonly keyId: string;
  readonly accountId: string;
  /** The time by the store's clock. */
  readonly nowMs: number;
  /** `yyyymm`, UTC. */
  readonly month: string;
  readonly windowMs: number;
  /** Undefined if the key has no limit of its own. */
  readonly keyRate: RateInfo | undefined;
  /** The plan's limit, which all keys of the account share. */
  readonly accountRate: RateInfo;
  readonly expiresMs: number | undefined;
  /** Ids and aliases; undefined if all models are allowed. */
  readonly models: readonly string[] | undefined;
  readonly inFlight: number;
  readonly inFlightMax: number | undefined;
  readonly capMicros: number | undefined;
  /** Spent in this month; `heldMicros` is of this month too. */
  readonly spentMicros: number;
  readonly heldMicros: number;
  readonly balanceMicros: number;
  readonly accountHeldMicros: number;
  /** The limits in the lists of the key, its group and its account. */
  readonly limits: readonly LimitUse[];
}

const time = text({ pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ });
const rate = object({
  limit: integer({ min: 0 }),
  remaining: integer({ min: 0 }),
  reset_at: time,
});

/** Amounts of credits are numbers with at most 6 decimals. */
export const keyInfoSchema = object({
  object: text({ pattern: /^key$/ }),
  id: text(),
  key: text(),
  expires_at: nullable(time),
  models: nullable(list(text())),
  rate_window_seconds: number({ min: 0 }),
  rate: nullable(rate),
  concurrency: nullable(integer({ min: 1 })),
  in_flight: integer({ min: 0 }),
  month: text({ pattern: /^\d{6}$/ }),
  monthly_cap: nullable(number({ min: 0 })),
  spent_this_month: number(),
  held: number({ min: 0 }),
  account: object({ id: text(), balance: number(), held: number({ min: 0 }), rate }),
  limits: list(
    object({
      level: text(),
      unit: text(),
      window: text(),
      amount: number({ min: 0 }),
      action: text(),
      used: number({ min: 0 }),
      held: number({ min: 0 }),
      reset_at: time,
    }),
  ),
});

export function encodeKeyInfo(info: KeyInfo, maskedKey: string): object {
  const { keyRate, accountRate, expiresMs, models, capMicros } = info;
  return {
    object: 'key',
    id: info.keyId,
    key: maskedKey,
    expires_at: expiresMs === undefined ? null : showTime(expiresMs),
    models: models ?? null,
    rate_window_seconds: info.windowMs / 1_000,
    rate: keyRate === undefined ? null : showRate(keyRate, info.nowMs),
    concurrency: info.inFlightMax ?? null,
    in_flight: info.inFlight,
    month: info.month,
    monthly_cap: capMicros === undefined ? null : creditsOf(capMicros),
    spent_this_month: creditsOf(info.spentMicros),
    held: creditsOf(info.heldMicros),
    account: {
      id: info.accountId,
      balance: creditsOf(info.balanceMicros),
      held: creditsOf(info.accountHeldMicros),
      rate: showRate(accountRate, info.nowMs),
    },
    limits: info.limits.map((limit) => showUse(limit, info.nowMs)),
  };
}

export function showRate({ limit, left, resetMs }: RateInfo, nowMs: number): object {
  return { limit, remaining: left, reset_at: showTime(nowMs + resetMs) };
}

export function showUse(limit: LimitUse, nowMs: number): object {
  const { level, unit, window, amount, action, usedAmount, heldAmount, resetMs } = limit;
  const show = unit === 'credits' ? creditsOf : (count: number) => count;
  return {
    ...{ level, unit, window: formatWindow(window), amount: show(amount), action },
    ...{ used: show(usedAmount), held: show(heldAmount), reset_at: showTime(nowMs + resetMs) },
  };
}
