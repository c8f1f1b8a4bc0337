import type { RateState } from './rate-state.ts';

export type RateEncoder = (rate: RateState) => Readonly<Record<string, string>>;

/** The headers that native clients know, with the date at which the whole limit is free again. */
export const encodeNativeRate: RateEncoder = (rate) => ({
  'anthropic-ratelimit-requests-limit': String(rate.limit),
  'anthropic-ratelimit-requests-remaining': String(rate.left),
  'anthropic-ratelimit-requests-reset': formatDate(rate.nowMs + rate.resetMs),
  'ratelimit-policy': encodePolicy(rate),
  ratelimit: encodeState(rate),
});

/** The headers that chat clients know, with the time until the whole limit is free again. */
export const encodeChatRate: RateEncoder = (rate) => ({
  'x-ratelimit-limit-requests': String(rate.limit),
  'x-ratelimit-remaining-requests': String(rate.left),
  'x-ratelimit-reset-requests': formatGoDuration(rate.resetMs),
  'ratelimit-policy': encodePolicy(rate),
  ratelimit: encodeState(rate),
});

// The two fields of the HTTP working group's draft, in the form they have since its eighth version.
const encodePolicy = ({ limit, windowMs }: RateState) =>
  `"rpm";q=${limit};w=${toSeconds(windowMs)}`;
const encodeState = ({ left, resetMs }: RateState) => `"rpm";r=${left};t=${toSeconds(resetMs)}`;

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
