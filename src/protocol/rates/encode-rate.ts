import type { LimitState } from './limit-state.ts';
import type { RateState } from './rate-state.ts';

/**
 * `limits` are those of lists that have least left, at most one of each unit; `creditsMicros` is
 * what the key could spend before the request, if that is known.
 */
export type RateEncoder = (
  rate: RateState,
  limits: readonly LimitState[],
  creditsMicros?: number,
) => Readonly<Record<string, string>>;

interface Names {
  readonly limit: (unit: string) => string;
  readonly left: (unit: string) => string;
  readonly reset: (unit: string) => string;
}

const NATIVE: Names = {
  limit: (unit) => `anthropic-ratelimit-${unit}-limit`,
  left: (unit) => `anthropic-ratelimit-${unit}-remaining`,
  reset: (unit) => `anthropic-ratelimit-${unit}-reset`,
};
const CHAT: Names = {
  limit: (unit) => `x-ratelimit-limit-${unit}`,
  left: (unit) => `x-ratelimit-remaining-${unit}`,
  reset: (unit) => `x-ratelimit-reset-${unit}`,
};

/** The headers that native clients know, with the date at which the whole limit is free again. */
export const encodeNativeRate: RateEncoder = (rate, limits) => {
  const headers: Record<string, string> = {
    'anthropic-ratelimit-requests-limit': String(rate.limit),
    'anthropic-ratelimit-requests-remaining': String(rate.left),
    'anthropic-ratelimit-requests-reset': formatDate(rate.nowMs + rate.resetMs),
    'ratelimit-policy': encodePolicy(rate),
    ratelimit: encodeState(rate),
  };
  if (limits.length > 0) {
    addLimits(headers, rate, limits, NATIVE, (ms) => formatDate(rate.nowMs + ms));
  }
  return headers;
};

/** The headers that chat clients know, with the time until the whole limit is free again. */
export const encodeChatRate: RateEncoder = (rate, limits) => {
  const headers: Record<string, string> = {
    'x-ratelimit-limit-requests': String(rate.limit),
    'x-ratelimit-remaining-requests': String(rate.left),
    'x-ratelimit-reset-requests': formatGoDuration(rate.resetMs),
    'ratelimit-policy': encodePolicy(rate),
    ratelimit: encodeState(rate),
  };
  if (limits.length > 0) addLimits(headers, rate, limits, CHAT, formatGoDuration);
  return headers;
};

/** Of several limits of requests, clients get the one with least left. */
function addLimits(
  headers: Record<string, string>,
  rate: RateState,
  limits: readonly LimitState[],
  names: Names,
  formatReset: (ms: number) => string,
): void {
  for (const { unit, amount, left, resetMs, window } of limits) {
    const name = unit.replace('_', '-');
    if (unit !== 'requests' || left < rate.left) {
      headers[names.limit(name)] = String(amount);
      headers[names.left(name)] = String(left);
      headers[names.reset(name)] = formatReset(resetMs);
    }
    const seconds = windowSeconds(window);
    const span = seconds === undefined ? '' : `;w=${seconds}`;
    // Without a quota unit, clients would take tokens for requests.
    const quotaUnit = unit === 'requests' ? '' : ';qu="tokens"';
    headers['ratelimit-policy'] += `, "${name}";q=${toInteger(amount)}${quotaUnit}${span}`;
    headers['ratelimit'] += `, "${name}";r=${toInteger(left)};t=${toSeconds(resetMs)}`;
  }
}

/** Undefined for a month, which has no fixed length. */
function windowSeconds(window: LimitState['window']): number | undefined {
  if (typeof window === 'number') return toSeconds(window);
  const days = { day: 1, week: 7, month: undefined }[window];
  return days === undefined ? undefined : days * 86_400;
}

// The two fields of the HTTP working group's draft, in the form they have since its eighth version.
const encodePolicy = ({ limit, windowMs }: RateState) =>
  `"rpm";q=${limit};w=${toSeconds(windowMs)}`;
const encodeState = ({ left, resetMs }: RateState) => `"rpm";r=${left};t=${toSeconds(resetMs)}`;

/** Structured fields have no longer integers than this (RFC 9651). */
const INTEGER_MAX = 999_999_999_999_999;
const toInteger = (count: number) => Math.min(count, INTEGER_MAX);

function toSeconds(ms: number): number {
  return Math.ceil(ms / 1_000);
}

/** Rounds up to whole seconds, so the date is never too early: `2026-11-21T12:40:59Z`. */
function formatDate(ms: number): string {
  const seconds = toSeconds(ms);
  if (seconds !== latest.seconds) {
    latest = { seconds, text: `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z` };
  }
  return latest.text;
}

/** Formatting a date takes half a microsecond, and thousands of requests share a second. */
let latest = { seconds: -1, text: '' };

/** Formats a duration as Go prints it: `20ms`, `1.5s`, `1m0s`, `1h0m0s`. */
function formatGoDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}
